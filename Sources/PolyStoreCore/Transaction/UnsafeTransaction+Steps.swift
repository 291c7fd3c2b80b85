import PolyStoreBackend

extension UnsafeTransaction {
    /// Ends a step: what was done since the last one is what ``undo()`` takes back. Those who observe this transaction are told of it.
    public func flush() {
        history?.endStep()
        tell()
        notifyMonitors()
    }

    /// Whether there is a step to take back.
    public var canUndo: Bool { history?.canUndo ?? false }
    /// Whether there is a step to do again.
    public var canRedo: Bool { history?.canRedo ?? false }

    /// Takes the last step back, the changes since the last ``flush()`` to begin with; nothing happens where there is none.
    /// - Throws: `misuse` where undo was not asked for when the transaction was begun.
    public func undo() throws {
        try undoHistory().undo()
        tell()
        notifyMonitors()
    }

    /// Does again what was taken back last, unless something was changed since.
    /// - Throws: `misuse` where undo was not asked for when the transaction was begun.
    public func redo() throws {
        try undoHistory().redo()
        tell()
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

    /// Calls a closure, on this thread, with what was changed here since the last call: at each ``flush()``, undo, redo, commit and rollback.
    /// - Returns: what to stop it by.
    @discardableResult
    public func observe(_ tell: @escaping (PendingChanges) -> Void) -> Int {
        let id = (pendingObservers.last?.id ?? 0) + 1
        pendingObservers.append((id, tell))
        return id
    }

    public func removeObserver(_ id: Int) { pendingObservers.removeAll { $0.id == id } }

    func tell() {
        guard !pendingObservers.isEmpty else { return }
        for key in memberLog.touched(since: toldLinks) {
            let object = anyObject(key.slot, key.key)
            news[object.place] = object
        }
        toldLinks = memberLog.changeCount
        guard !news.isEmpty else { return }
        let changes = PendingChanges(Array(news.values))
        news = [:]
        for observer in pendingObservers { observer.tell(changes) }
    }

    /// Brings the monitors up to date: with pending changes, and with what others committed where newer snapshots are shown. They find out what changed by
    /// comparing with what they have shown.
    func notifyMonitors() {
        guard let observers, !isNotifyingMonitors else { return }
        isNotifyingMonitors = true
        defer { isNotifyingMonitors = false }
        let step = CommittedStep()
        for key in memberLog.touched(since: monitoredLinks) { step.add(key) }
        monitoredLinks = memberLog.changeCount
        let move = ContextMove(step: step, isPartial: true)
        let concerned = observers.concerned(move, table.entries)
        for observer in concerned { observer.contextWillMove(move) }
        for observer in concerned { observer.contextDidMove(move, self) }
        for observer in concerned { observer.notify() }
    }
}

/// Objects of an unsafe transaction, by what was done with them.
public struct PendingChanges {
    public let inserted: [any Model]
    public let updated: [any Model]
    public let deleted: [any Model]

    init(_ objects: [any Model]) {
        let objects = objects.sorted { ($0._$state.slot, $0._$state.key) < ($1._$state.slot, $1._$state.key) }
        deleted = objects.filter(\.isDeleted)
        inserted = objects.filter { $0.isInserted && !$0.isDeleted }
        updated = objects.filter { !$0.isInserted && !$0.isDeleted }
    }
}
