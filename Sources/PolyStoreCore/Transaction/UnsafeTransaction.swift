import PolyStoreBackend

/// An unqueued transaction: it is not bound to a closure or to the write queue, can be committed repeatedly or rolled back, and can have children.
///
///     let draft = stack.beginUnsafe()
///     let jane = try draft.edit(id)
///     jane.name = "Jane"                     // not visible outside of the transaction
///     try draft.commit()                     // or draft.rollback(), or release it
///
/// It reads a snapshot of the stores, taken on first use. Each commit (including a rejected one), ``rollback()`` and ``refresh()`` move it to the
/// newest version.
/// It does not block other writers. A commit detects whether they changed the same objects; see ``MergePolicy``. Objects that were only read are not
/// checked, so two transactions that each read what the other one writes can both commit (write skew).
/// ``DataStack/perform(durability:source:file:line:_:)`` prevents write skew.
///
/// It is not Sendable and has no automatic end: its snapshot stays open as long as it lives; see ``DataStack/openSnapshots``.
/// Releasing its last reference discards its changes and closes its snapshot, even if its objects are still referenced. Those keep their values, but
/// can no longer read from the store or be changed.
public final class UnsafeTransaction: Transaction {
    /// The parent of a child transaction; nil if the transaction commits to the stores.
    let parent: Transaction?
    @exclusivity(unchecked) var readers: [(any ReadTransaction)?] = []
    @exclusivity(unchecked) var snapshotID: Int?
    /// Reserved row ids, by entity index.
    @exclusivity(unchecked) private var reservedRowIDs: [Int: ArraySlice<Int64>] = [:]
    /// The size of the last reservation of row ids, by entity index.
    @exclusivity(unchecked) private var reservationSizes: [Int: Int] = [:]
    /// The changed objects, their original records, and the observers.
    let tracker: ChangeTracker
    /// Errors of steps whose results are not awaited.
    @exclusivity(unchecked) var failedSteps: [StoreError] = []
    /// The number of to-many relationship changes that monitors were notified of.
    @exclusivity(unchecked) var monitoredRelationshipCount = 0
    /// A Boolean value that indicates whether monitors are being notified.
    @exclusivity(unchecked) var isNotifyingMonitors = false
    /// A Boolean value that indicates whether a failed commit may have been written.
    @exclusivity(unchecked) var mayBeWritten = false
    /// A Boolean value that indicates whether steps of this transaction can be undone.
    public let supportsUndo: Bool

    init(core: StackCore, table: StoreTable, parent: Transaction?, _ site: CallSite, supportsUndo: Bool) {
        self.parent = parent
        self.supportsUndo = supportsUndo
        tracker = ChangeTracker()
        super.init(core: core, table: table, writers: nil, changeTracker: tracker, site)
        if supportsUndo { history = UndoHistory(self) }
    }

    deinit {
        release()
        returnRowIDs()
        detachObjects()
    }

    /// Objects do not keep the transaction alive; it ends with its last reference.
    override var isKeptByObjects: Bool { false }
    override var readsPending: Bool { parent != nil }

    override var newerTable: StoreTable? {
        guard let parent else { return core.table.withLock { $0 } }
        if let newer = parent.newerTable { parent.update(newer) }
        return parent.table
    }

    // MARK: Storage

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = readers.indices.contains(store.index) ? readers[store.index] : nil { return reader }
        try checkOpen(store)
        while readers.count < table.stores.count { readers.append(nil) }
        if let parent {
            try parent.checkOpen(store)
            let reader = ParentReader(parent, store)
            readers[store.index] = reader
            return reader
        }
        try core.process.check("This stack")
        if snapshotID == nil { snapshotID = core.snapshots.open(site) }
        // All stores together, so that the snapshots belong to the same point in time.
        for store in table.openStores where readers[store.index] == nil { readers[store.index] = try store.backend.beginRead() }
        guard let reader = readers[store.index] else { throw store.removedError }
        return reader
    }

    override func touch(_ store: PersistentStore) throws {
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.url) was opened for reading only.", url: store.url)
        }
    }

    func release() {
        for reader in readers { reader?.end() }
        readers = []
        if let snapshotID { core.snapshots.close(snapshotID) }
        snapshotID = nil
    }

    // MARK: Row ids

    override func newRowID(_ entry: StoreEntity) throws -> Int64 {
        if let parent {
            try parent.checkMutable()
            return try parent.newRowID(entry)
        }
        let entityIndex = Int(entry.entityIndex)
        if let rowID = reservedRowIDs[entityIndex]?.popFirst() { return rowID }
        try touch(entry.store)
        // Doubles each time, so that a bulk load makes few reservations.
        let count = min((reservationSizes[entityIndex] ?? 16) * 2, 4096)
        reservationSizes[entityIndex] = count
        var more = try core.reserveRowIDs(entry, count)[...]
        let rowID = more.removeFirst()
        reservedRowIDs[entityIndex] = more
        return rowID
    }

    /// Returns unused row ids to the store if it has no other reserved ids.
    private func returnRowIDs() {
        for (entityIndex, left) in reservedRowIDs {
            guard let first = left.first, let last = left.last, last - first == Int64(left.count - 1) else { continue }
            let entry = table.entries[entityIndex]
            entry.store.sequences.withLock { sequences in
                if sequences[entry.entity.index] == nil { sequences[entry.entity.index] = first...last }
            }
        }
        reservedRowIDs = [:]
    }

    // MARK: Changes

    /// The parent may be changed at any time.
    override var showsOneVersion: Bool { parent == nil }

    // MARK: The end

    /// Moves objects that are still referenced to a context that rejects all operations. They may be in use on another thread, so only atomic state
    /// is changed.
    private func detachObjects() {
        for entityChanges in pending {
            // Ensures that changes to already changed objects are detected too.
            for object in [entityChanges.inserted, entityChanges.updated].joined() { object._$state.edit?.isRecorded = true }
        }
        let all = maps + substitutes.values
        guard all.contains(where: \.isHeld) else { return }
        let ended = EndedContext(core: core, table: table, taking: maps, substitutes, site)
        for map in all { map.leave(to: ended) }
    }
}
