import PolyStoreBackend

/// The write transactions of one place in this process. An engine has one at a time, so stacks that have opened one file wait for each other inside the engine,
/// where nothing would notice a ring.
final class StoreWriters: Awaited {
    private struct State {
        /// The write queue whose transactions write now.
        var holder: WriterLane?
        var openCount = 0
    }

    private struct Place {
        weak var writers: StoreWriters?
    }

    private static let places = Protected<[String: Place]>([:])

    private let state = Protected(State())

    var owner: UInt { state.withLock { $0.holder }?.owner ?? 0 }

    /// The one of a store that was just opened: shared by all stores at the same place.
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

    /// Begins a write transaction of a store.
    /// - Throws: `misuse` where the wait for another stack's would never end, and what the engine throws.
    func begin(_ store: PersistentStore, _ lane: WriterLane) throws -> any WriteTransaction {
        let isShared = state.withLock { $0.openCount > 1 }
        if isShared { try LaneWaits.shared.begin(self) }
        defer { if isShared { LaneWaits.shared.end() } }
        let writer = try store.backend.beginWrite()
        state.withLock { $0.holder = lane }
        return writer
    }

    /// Called when a write transaction has ended.
    func end(_ lane: WriterLane) { state.withLock { if $0.holder === lane { $0.holder = nil } } }
}
