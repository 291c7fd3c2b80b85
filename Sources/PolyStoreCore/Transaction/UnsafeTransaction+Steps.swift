import PolyStoreBackend

extension UnsafeTransaction {
    /// Ends a step, which consists of the changes since the last one and is the unit of ``undo()``. Notifies observers of this transaction.
    public func flush() {
        history?.endStep()
        tracker.notifyObservers(in: self)
        notifyMonitors()
    }

    /// A Boolean value that indicates whether there is a step to undo.
    public var canUndo: Bool { history?.canUndo ?? false }
    /// A Boolean value that indicates whether there is a step to redo.
    public var canRedo: Bool { history?.canRedo ?? false }

    /// Undoes the last step, starting with the changes since the last ``flush()``. Does nothing if there is none.
    /// - Throws: `misuse` if the transaction was begun without undo support.
    public func undo() throws {
        try undoHistory().undo()
        tracker.notifyObservers(in: self)
        notifyMonitors()
    }

    /// Redoes the last undone step, unless something was changed since.
    /// - Throws: `misuse` if the transaction was begun without undo support.
    public func redo() throws {
        try undoHistory().redo()
        tracker.notifyObservers(in: self)
        notifyMonitors()
    }

    private func undoHistory() throws -> UndoHistory {
        guard let history, supportsUndo else {
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

    /// Updates the monitors with pending changes, and with changes of other transactions if newer snapshots are shown. They detect changes by
    /// comparing with what they last showed.
    func notifyMonitors() {
        guard let observers, !isNotifyingMonitors else { return }
        isNotifyingMonitors = true
        defer { isNotifyingMonitors = false }
        let step = CommittedStep()
        for key in relationshipChanges.changedRelationships(since: monitoredRelationshipCount) { step.add(key) }
        monitoredRelationshipCount = relationshipChanges.changeCount
        let move = ContextMove(step: step, isPartial: true)
        let concerned = observers.concerned(move, table.entries)
        for observer in concerned { observer.contextWillMove(move) }
        for observer in concerned { observer.contextDidMove(move, self) }
        for observer in concerned { observer.notify() }
    }
}
