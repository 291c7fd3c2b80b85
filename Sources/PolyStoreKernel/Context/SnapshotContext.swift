import PolyStoreBackend

/// A read-only context over one snapshot of each store; the argument of the body of `read { }`.
public final class SnapshotContext: Context {
    private let snapshots: HeldSnapshots

    init(core: StackCore, table: StoreTable, _ site: CallSite) {
        snapshots = HeldSnapshots(core)
        super.init(core: core, table: table, site, source: .snapshots(snapshots))
    }

    /// Returns the version of a store that this context shows, or nil before the first read.
    public func version(of store: PersistentStore) -> UInt64? { snapshots.snapshot(store)?.version }

    func end() {
        graph.rowsAhead = nil
        snapshots.close()
    }
}
