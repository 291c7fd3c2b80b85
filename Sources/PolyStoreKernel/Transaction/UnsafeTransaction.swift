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
/// ``DataStack/perform(durability:sourceIdentifier:retries:timeLimit:file:line:_:)->T`` prevents write skew.
///
/// It is not Sendable and has no automatic end: its snapshot stays open as long as it lives; see ``DataStack/openSnapshots``.
/// Releasing its last reference discards its changes and closes its snapshot, even if its objects are still referenced. Those keep their values, but
/// can no longer read from the store or be changed.
public final class UnsafeTransaction: Transaction {
    /// The parent of a child transaction; nil if the transaction commits to the stores.
    let parent: Transaction?
    /// The changed objects, their original records, and the observers.
    let tracker: ChangeTracker
    /// Errors of steps whose results are not awaited.
    @exclusivity(unchecked) var failedSteps: [StoreError] = []
    /// A Boolean value that indicates whether a callback has requested another report.
    @exclusivity(unchecked) var isReportDeferred = false
    /// A Boolean value that indicates whether a failed commit may have been written.
    @exclusivity(unchecked) var mayBeWritten = false
    /// A Boolean value that indicates whether steps of this transaction can be undone.
    public let supportsUndo: Bool

    init(core: StackCore, table: StoreTable, parent: Transaction?, _ site: CallSite, supportsUndo: Bool) {
        self.parent = parent
        self.supportsUndo = supportsUndo
        tracker = ChangeTracker()
        let access = parent.map { .parent(ParentSource($0)) } ?? TransactionSource.unqueued(UnqueuedSource(core))
        // Objects do not keep the transaction alive; it ends with its last reference.
        super.init(core: core, table: table, access: access, tracker: tracker, site, graph: ObjectGraph(isKeptByObjects: false))
        interruption = parent?.requestInterruption
        buffer.rollBack = { [unowned self] in rollback() }
        if supportsUndo { buffer.history = UndoHistory(self) }
    }

    deinit {
        endSnapshots()
        if case .unqueued(let source) = access { source.returnRowIDs(table) }
        detachObjects()
    }

    func endSnapshots() {
        detachIterations()
        access.endReaders()
    }

    // MARK: The end

    /// Moves objects that are still referenced to a context that rejects all operations. They may be in use on another thread, so only atomic state
    /// is changed.
    private func detachObjects() {
        // Ensures that changes to already changed objects are detected too.
        buffer.detectChangesOfChangedObjects()
        let all = graph.allMaps
        guard all.contains(where: \.isHeld) else { return }
        let ended = Context(core: core, table: table, site, source: .released, graph: graph.objectsOnly())
        for map in all { map.leave(to: ended) }
    }
}
