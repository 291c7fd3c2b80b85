import PolyStoreBackend

extension UnsafeTransaction {
    /// Ends a step, which consists of the changes since the last one and is the unit of ``undo()``. Notifies observers of this transaction. In a callback
    /// of this transaction, they are notified when all callbacks have returned; the same is true of undo, redo, commit, rollback and refresh.
    public func flush() {
        if observers == nil, !tracker.isObserved { editing.settleStep() } else { settleMembers() }
        buffer.history?.endStep(isSettled: true)
        tracker.endReport(in: editing)
        reportChanges()
    }

    /// A Boolean value that indicates whether there is a step to undo.
    public var canUndo: Bool { buffer.history?.canUndo ?? false }
    /// A Boolean value that indicates whether there is a step to redo.
    public var canRedo: Bool { buffer.history?.canRedo ?? false }

    /// Undoes the last step, starting with the changes since the last ``flush()``. Does nothing if there is none.
    /// - Throws: `misuse` if the transaction was begun without undo support.
    public func undo() throws {
        try undoHistory().undo()
        tracker.endReport(in: editing)
        reportChanges()
    }

    /// Redoes the last undone step, unless something was changed since.
    /// - Throws: `misuse` if the transaction was begun without undo support.
    public func redo() throws {
        try undoHistory().redo()
        tracker.endReport(in: editing)
        reportChanges()
    }

    private func undoHistory() throws -> UndoHistory {
        guard let history = buffer.history, supportsUndo else {
            throw StoreError(.misuse, "This transaction keeps no steps: begin it with supportsUndo: true.")
        }
        try checkMutable()
        return history
    }

    // MARK: Observers

    /// Adds an observer, which is called synchronously with the changes since its last call after each ``flush()``, undo, redo, commit and rollback.
    /// - Returns: The observation. Keep a reference to it.
    public func observe(_ handler: @escaping (PendingChanges) -> Void) -> PendingChangesObservation {
        PendingChangesObservation(tracker, tracker.observe(handler))
    }

    /// Notifies the observers of pending changes, then the monitors. A call from a callback notifies them after all callbacks have returned.
    func reportChanges() {
        guard isReporting else { return reporting { reportNow() } }
        guard !isReportDeferred else { return }
        isReportDeferred = true
        deferredReports.append { [self] in
            isReportDeferred = false
            reportNow()
        }
    }

    private func reportNow() {
        tracker.notifyObservers()
        notifyMonitors()
    }

    /// Updates the monitors with pending changes, and with changes of other transactions if newer snapshots are shown. They detect changes by
    /// comparing with what they last showed.
    private func notifyMonitors() {
        guard let observers else { return }
        collectRelationships()
        let step = CommittedStep()
        for key in tracker.takeCollectedRelationships() { step.add(key) }
        let move = ContextMove(step: step, isPartial: true)
        // The objects already have their new values, so nothing is announced.
        let concerned = observers.concerned(move, table.entries)
        for observer in concerned { observer.contextDidMove(move, self) }
        for observer in concerned { observer.notify() }
    }

    /// Collects the to-many relationships that were changed since the last call, for the monitors.
    func collectRelationships() { tracker.collectRelationships(in: editing) }

    /// Collects to-many relationships that undo, redo or rollback has restored.
    func collectRelationships(restored: Set<RelationshipKey>) { tracker.collectRelationships(restored: restored, in: editing) }
}
