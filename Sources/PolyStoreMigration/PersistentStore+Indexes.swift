import Dispatch
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery
import PolyStoreRuns

extension PersistentStore {
    /// Builds indexes of the store again from its objects while the store is in use, after `verify()` has reported that they are damaged or differ from the objects.
    ///
    ///     let store = stack.stores[0]
    ///     print(try await store.verify())   // A sentence names the index.
    ///     try await store.rebuildIndexes(["Note_title_body_text"])
    ///
    /// Changes no object. A plain index is built in one transaction, for which writers wait; on PostgreSQL fetches of the entity wait too. A full-text index is built in several transactions,
    /// between which others write; searches read the texts of the objects until it is complete. If the process ends before, the next opening for writing continues.
    ///
    /// Runs on a thread of PolyStore. The calling task waits for it without blocking a thread, also if the task is cancelled. Closing the store ends it with the error `closed`.
    /// - Parameter names: The names that `verify()` and `explain` print: those of the entity and the attributes, joined by underscores, and `text` for a full-text index. Nil for all indexes.
    /// - Throws: `notFound` for a name that no index has, before an index is changed; `constraint` if two objects have the same value of a unique index; `unsupported` for a backend that
    ///   cannot build its indexes again; `readOnly`, `closed`, `busy`, `corrupt`, `full`, `io`.
    public func rebuildIndexes(_ names: Set<String>? = nil) async throws {
        try await Self.rebuildQueue.awaiting { [self] in try rebuildIndexesAndWait(names) }
    }

    /// Builds indexes of the store again, blocking the caller's thread until they are complete; see ``rebuildIndexes(_:)``.
    public func rebuildIndexesAndWait(_ names: Set<String>? = nil) throws { try backend.rebuildingIndexes(names) }

    /// A dispatch queue, because a backend blocks and must not block Swift's cooperative threads.
    private static let rebuildQueue = DispatchQueue(label: "polystore.indexes", qos: .utility, attributes: .concurrent)
}
