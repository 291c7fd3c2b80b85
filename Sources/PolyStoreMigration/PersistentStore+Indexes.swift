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
    /// Changes no object. A plain index is built in one transaction on SQLite and PostgreSQL. Writers wait for it, on PostgreSQL fetches of the entity too, and throw `busy` if it takes longer than
    /// their busy timeout. On PostgreSQL it throws `busy` itself while a snapshot that has read the entity is open. A full-text index is built in several transactions, between which others
    /// write; searches read the texts of the objects until it is complete. If an error or the end of the process interrupts it, it is completed in the background or by the next opening for
    /// writing.
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
