/// An observation of the pending changes of an unqueued transaction. It lasts until it is released or ``cancel()`` is called.
public final class PendingChangesObservation {
    private weak var tracker: ChangeTracker?
    private let id: Int

    init(_ tracker: ChangeTracker, _ id: Int) {
        self.tracker = tracker
        self.id = id
    }

    /// Ends the observation.
    public func cancel() { tracker?.removeObserver(id) }

    deinit { cancel() }
}
