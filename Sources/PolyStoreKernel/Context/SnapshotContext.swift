import PolyStoreBackend

/// A read-only context over one snapshot of each store; the argument of the body of `read { }`.
public final class SnapshotContext: Context {
    @exclusivity(unchecked) private var snapshots = HeldSnapshots()

    override var newerTable: StoreTable? { snapshots.areToBeOpened ? core.table.withLock { $0 } : nil }

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        try snapshots[store] ?? snapshots.reader(of: store, table, core, site)
    }

    /// Returns the version of a store that this context shows, or nil before the first read.
    public func version(of store: PersistentStore) -> UInt64? { snapshots[store]?.version }

    func end() {
        rowsAhead = nil
        snapshots.close(core)
    }

    deinit { snapshots.end(core) }
}
