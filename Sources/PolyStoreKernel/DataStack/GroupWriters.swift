import PolyStoreBackend

/// The open write transactions of a commit group, one per store.
final class GroupWriters: @unchecked Sendable {  // used only by the thread that owns the write queue
    /// The owner of the write queue. Other threads read it in order to detect deadlocks.
    let owner = OwningThread()
    // Access is exclusive to the owner of the write queue and never spans more than one statement, so exclusivity checks are redundant.

    /// The writers by store index; nil for stores that the group has not used.
    @exclusivity(unchecked) private(set) var all: [StoreWriter?] = []
    /// A Boolean value that indicates whether write transactions have begun that must be committed or rolled back.
    @exclusivity(unchecked) private(set) var isOpen = false

    /// Returns the writer of a store, and begins its write transaction on first use.
    func writer(of store: PersistentStore) throws -> StoreWriter {
        if store.index < all.count, let writer = all[store.index] { return writer }
        let writer = try StoreWriter(store, owner)
        while all.count <= store.index { all.append(nil) }
        all[store.index] = writer
        isOpen = true
        return writer
    }

    /// Returns the writer of a store whose write transaction has begun.
    func begunWriter(_ index: Int) -> StoreWriter? { index < all.count ? all[index] : nil }

    /// Rolls back the write transaction of a store.
    func rollBack(_ writer: StoreWriter) {
        writer.transaction.rollback()
        end(writer, wasCommitted: false)
    }

    /// Removes a writer whose write transaction has ended.
    func end(_ writer: StoreWriter, wasCommitted: Bool) {
        writer.end(wasCommitted: wasCommitted)
        all[writer.store.index] = nil
    }

    /// Called after all write transactions have ended.
    func didEnd() { isOpen = false }
}
