import PolyStoreBackend

/// A read-only context over one version of each store. What `read { }` hands out.
public class SnapshotContext: Context {
    @exclusivity(unchecked) final var readers: [(any ReadTransaction)?] = []
    @exclusivity(unchecked) final var hasEnded = false
    /// By which the stack knows that it reads.
    @exclusivity(unchecked) final var ledgerID: Int?

    override var newerTable: StoreTable? { readers.isEmpty && !hasEnded ? core.table.withLock { $0 } : nil }

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = readers.indices.contains(store.index) ? readers[store.index] : nil { return reader }
        guard !hasEnded else {
            throw StoreError(.closed, "This context has ended; its objects can no longer read from the store.", url: store.url)
        }
        try begin()
        guard let reader = readers[store.index] else { throw StoreError(.closed, "The store is closed.", url: store.url) }
        return reader
    }

    /// Pins every store that is not pinned yet, all at once, so that what is read belongs together.
    func begin() throws {
        try core.process.check("This stack")
        if ledgerID == nil { ledgerID = core.snapshots.open(site) }
        while readers.count < table.stores.count { readers.append(nil) }
        for store in table.stores where readers[store.index] == nil { readers[store.index] = try store.backend.beginRead() }
    }

    /// The version of a store that this context shows; nil before it has been read from.
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
        if let ledgerID { core.snapshots.close(ledgerID) }
        ledgerID = nil
    }

    deinit { release() }
}
