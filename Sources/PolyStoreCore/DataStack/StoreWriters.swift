import PolyStoreBackend

/// The write transactions on one store location in this process. A backend runs one at a time, so stacks that have opened the same file block each
/// other inside the backend, which does not detect deadlocks.
final class StoreWriters: Awaited {
    private struct State {
        /// The write queue whose transactions are writing.
        var holder: WriterLane?
        var openCount = 0
    }

    private struct Place {
        weak var writers: StoreWriters?
    }

    private static let places = Protected<[String: Place]>([:])

    private let state = Protected(State())

    var owner: UInt { state.withLock { $0.holder }?.owner ?? 0 }

    /// Returns the instance for a store that was just opened. It is shared by all stores at the same location.
    static func of(_ configuration: StoreConfiguration) -> StoreWriters {
        guard configuration.isShared else { return StoreWriters() }
        let file = try? FilePlace(path: configuration.location).identity()
        let name = file ?? configuration.url
        return places.withLock { places in
            places = places.filter { $0.value.writers != nil }
            let writers = places[name]?.writers ?? StoreWriters()
            places[name] = Place(writers: writers)
            writers.state.withLock { $0.openCount += 1 }
            return writers
        }
    }

    /// A Boolean value that indicates whether several stacks of the process have opened the store.
    var isShared: Bool { state.withLock { $0.openCount > 1 } }

    /// Called after a stack has closed its store.
    func didClose() { state.withLock { $0.openCount -= 1 } }

    /// Begins a write transaction of a store.
    /// - Throws: `misuse` if waiting for another stack would deadlock, and the errors of the backend.
    func begin(_ store: PersistentStore, _ lane: WriterLane) throws -> any WriteTransaction {
        let isShared = isShared
        if isShared { try LaneWaits.shared.begin(self) }
        defer { if isShared { LaneWaits.shared.end() } }
        let writer = try store.backend.beginWrite()
        state.withLock { $0.holder = lane }
        return writer
    }

    /// Called after a write transaction has ended.
    func end(_ lane: WriterLane) { state.withLock { if $0.holder === lane { $0.holder = nil } } }
}
