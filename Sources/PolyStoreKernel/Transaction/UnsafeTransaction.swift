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
/// ``DataStack/perform(durability:sourceIdentifier:file:line:_:)->T`` prevents write skew.
///
/// It is not Sendable and has no automatic end: its snapshot stays open as long as it lives; see ``DataStack/openSnapshots``.
/// Releasing its last reference discards its changes and closes its snapshot, even if its objects are still referenced. Those keep their values, but
/// can no longer read from the store or be changed.
public final class UnsafeTransaction: Transaction {
    /// The parent of a child transaction; nil if the transaction commits to the stores.
    let parent: Transaction?
    @exclusivity(unchecked) private var snapshots = HeldSnapshots()
    /// Reserved row ids, by entity index.
    @exclusivity(unchecked) private var rowIDs: [Int: RowIDBlock] = [:]
    /// The changed objects, their original records, and the observers.
    let tracker: ChangeTracker
    /// Errors of steps whose results are not awaited.
    @exclusivity(unchecked) var failedSteps: [StoreError] = []
    /// The number of to-many relationship changes that were collected for the monitors.
    @exclusivity(unchecked) var collectedRelationshipCount = 0
    /// The changed to-many relationships that the monitors have not been notified of.
    @exclusivity(unchecked) var unreportedRelationships: Set<RelationshipKey> = []
    /// A Boolean value that indicates whether a callback has requested another report.
    @exclusivity(unchecked) var isReportDeferred = false
    /// A Boolean value that indicates whether a failed commit may have been written.
    @exclusivity(unchecked) var mayBeWritten = false
    /// The inserted objects that other transactions had deleted, so that others may have inserted them again too.
    @exclusivity(unchecked) var reinserted: Set<RowReference> = []
    /// A Boolean value that indicates whether steps of this transaction can be undone.
    public let supportsUndo: Bool

    init(core: StackCore, table: StoreTable, parent: Transaction?, _ site: CallSite, supportsUndo: Bool) {
        self.parent = parent
        self.supportsUndo = supportsUndo
        tracker = ChangeTracker()
        // Objects do not keep the transaction alive; it ends with its last reference.
        super.init(
            core: core, table: table, writers: nil, changeTracker: tracker, site, isKeptByObjects: false, readsPending: parent != nil)
        if supportsUndo { history = UndoHistory(self) }
    }

    deinit {
        endSnapshots()
        returnRowIDs()
        detachObjects()
    }

    override var newerTable: StoreTable? {
        guard let parent else { return core.table.withLock { $0 } }
        if let newer = parent.newerTable { parent.update(newer) }
        return parent.table
    }

    // MARK: Storage

    override func reader(_ store: PersistentStore) throws -> any ReadTransaction {
        if let reader = snapshots[store] { return reader }
        try checkOpen(store)
        if let parent {
            try parent.checkOpen(store)
            let reader = ParentReader(parent, store)
            snapshots.set(reader, of: store)
            return reader
        }
        return try snapshots.reader(of: store, table, core, site)
    }

    package override func undoneRecord(_ entry: StoreEntity, _ rowID: Int64) -> RecordView? {
        tracker.undoneRecord(RowReference(entityIndex: entry.entityIndex, rowID: rowID), entry.entity.layout)
    }

    package override func touch(_ store: PersistentStore) throws {
        guard !store.configuration.isReadOnly else {
            throw StoreError(.readOnly, "The store \(store.location) was opened for reading only.", location: store.location)
        }
    }

    func endSnapshots() {
        detachIterations()
        snapshots.end(core)
    }

    // The cursors of a child transaction read the snapshots of its parent.
    override func add(_ iteration: BatchIteration) {
        super.add(iteration)
        parent?.add(iteration)
    }

    override func remove(_ iteration: BatchIteration) {
        super.remove(iteration)
        parent?.remove(iteration)
    }

    // MARK: Row ids

    override func newRowID(_ entry: StoreEntity) throws -> Int64 {
        if let parent {
            try parent.checkMutable()
            return try parent.newRowID(entry)
        }
        let entityIndex = Int(entry.entityIndex)
        if let rowID = rowIDs[entityIndex]?.take() { return rowID }
        try touch(entry.store)
        let count = RowIDBlock.size(after: rowIDs[entityIndex])
        var block = RowIDBlock(try core.reserveRowIDs(entry, count), size: count)
        defer { rowIDs[entityIndex] = block }
        guard let rowID = block.take() else { throw StoreError(.closed, "The transaction has ended.", location: entry.store.location) }
        return rowID
    }

    /// Returns unused row ids to the store if it has no other reserved ids.
    private func returnRowIDs() {
        for (entityIndex, block) in rowIDs {
            guard let left = block.left else { continue }
            let entry = table.entries[entityIndex]
            entry.store.sequences.withLock { sequences in
                if sequences[entry.entity.index] == nil { sequences[entry.entity.index] = left }
            }
        }
        rowIDs = [:]
    }

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
