import PolyStoreBackend
import PolyStoreRuns
import Synchronization

/// The write access to one store location in this process. A backend runs one write transaction at a time, so stacks that have opened the same file
/// block each other inside the backend, which does not detect deadlocks.
final class StoreWriteAccess: AwaitedResource {
    private struct WeakAccess {
        weak var access: StoreWriteAccess?
    }

    private static let byLocation = Protected<[StoreName: WeakAccess]>([:], .locations)

    /// The owner of the write queue whose transactions are writing.
    private let writer = Protected<OwningThread?>(nil, .writeAccess)
    /// The number of stacks that have opened the store.
    private let openCount = Atomic(0)

    var owner: UInt { writer.withLock { $0 }?.owner ?? 0 }

    /// Returns the instance for a store that was just opened. It is shared by all stores at the same location.
    static func of(_ configuration: StoreConfiguration) -> StoreWriteAccess {
        guard configuration.isShared else { return StoreWriteAccess() }
        // The file can have several names, and a compaction can replace the file at a path.
        let isFile = configuration.remote == nil
        var names = isFile ? [StoreName("path:" + StorePath.resolve(configuration.location))] : Array(configuration.names)
        if isFile, let file = try? StorePath(path: configuration.location).identity() { names.append(StoreName("file:" + file)) }
        return byLocation.withLock { byLocation in
            byLocation = byLocation.filter { $0.value.access != nil }
            let access = names.compactMap { byLocation[$0]?.access }.first ?? StoreWriteAccess()
            for name in names { byLocation[name] = WeakAccess(access: access) }
            access.openCount.add(1, ordering: .acquiringAndReleasing)
            return access
        }
    }

    /// A Boolean value that indicates whether a stack of the process has opened the store.
    var isOpen: Bool { openCount.load(ordering: .acquiring) > 0 }

    /// A Boolean value that indicates whether several stacks of the process have opened the store.
    var isShared: Bool { openCount.load(ordering: .acquiring) > 1 }

    /// Called after a stack has closed its store.
    func didClose() { openCount.subtract(1, ordering: .acquiringAndReleasing) }

    /// Begins a write transaction of a store.
    /// - Throws: `misuse` if waiting for another stack would deadlock, and the errors of the backend.
    func begin(_ store: PersistentStore, _ writer: OwningThread) throws -> any WriteTransaction {
        let isShared = isShared
        if isShared { try WaitForGraph.shared.beginWaiting(for: self) }
        defer { if isShared { WaitForGraph.shared.endWaiting() } }
        let began = store.slowOperations.start(.wait)
        let transaction = try store.backend.beginWrite()
        // A transaction that began later would wait for the other stack unnoticed.
        if isShared { _ = try transaction.version }
        store.slowOperations.end(.wait, began, .framework, "wait", "Waiting for the writer of \(store.location)") {
            ("", [.store: .text(store.location)])
        }
        self.writer.withLock { $0 = writer }
        return transaction
    }

    /// Called after a write transaction has ended.
    func end(_ writer: OwningThread) { self.writer.withLock { if $0 === writer { $0 = nil } } }
}
