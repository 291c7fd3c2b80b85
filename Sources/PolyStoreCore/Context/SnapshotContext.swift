import PolyStoreBackend

/// A read-only context over one snapshot of each store; the argument of the body of `read { }`.
public class SnapshotContext: Context {
    @exclusivity(unchecked) final var readers: [(any ReadTransaction)?] = []
    @exclusivity(unchecked) final var hasEnded = false
    /// The identifier of the snapshot in the stack's list of open snapshots.
    @exclusivity(unchecked) final var snapshotID: Int?

    override var newerTable: StoreTable? { readers.isEmpty && !hasEnded ? core.table.withLock { $0 } : nil }

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = readers.indices.contains(store.index) ? readers[store.index] : nil { return reader }
        guard !hasEnded else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", url: store.url)
        }
        try begin()
        guard let reader = readers[store.index] else { throw store.removedError }
        return reader
    }

    /// Begins the missing snapshots of all stores together, so that they belong to the same point in time.
    func begin() throws {
        try core.process.check("This stack")
        if snapshotID == nil { snapshotID = core.snapshots.open(site) }
        while readers.count < table.stores.count { readers.append(nil) }
        for store in table.openStores where readers[store.index] == nil { readers[store.index] = try store.backend.beginRead() }
    }

    /// Returns the version of a store that this context shows, or nil before the first read.
    public final func version(of store: PersistentStore) -> UInt64? {
        readers.indices.contains(store.index) ? readers[store.index]?.version : nil
    }

    final func end() {
        hasEnded = true
        rowsAhead = nil
        release()
    }

    private func release() {
        for reader in readers { reader?.end() }
        readers = []
        if let snapshotID { core.snapshots.close(snapshotID) }
        snapshotID = nil
    }

    deinit { release() }
}
