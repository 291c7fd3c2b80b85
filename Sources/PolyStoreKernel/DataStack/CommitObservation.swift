/// A subscription to commits, which ends when it is released.
public final class CommitObservation: Sendable {
    private let publisher: CommitPublisher
    private let id: Int

    init(_ publisher: CommitPublisher, _ id: Int) {
        self.publisher = publisher
        self.id = id
    }

    /// Ends the subscription.
    public func cancel() { publisher.removeObserver(id) }

    deinit { cancel() }
}

extension DataStack {
    /// Calls a closure after every commit, on a queue of the stack, in the order of the commits, until the returned observation is released.
    ///
    /// The form for code without `async`. It receives every commit after the call; ``commits`` is an asynchronous sequence of the same commits.
    public func observeCommits(_ handler: @escaping @Sendable (Commit) -> Void) -> CommitObservation { observeCommits(handler, end: {}) }

    private func observeCommits(
        _ handler: @escaping @Sendable (Commit) -> Void, end: @escaping @Sendable () -> Void
    ) -> CommitObservation {
        CommitObservation(core.publisher, core.commitSequencer.observe(handler, end: end))
    }

    /// An asynchronous sequence of the commits from now on, which ends when the stack is released. Unread commits are buffered without a limit.
    ///
    /// Each access begins an observation, so read the property once and keep the sequence. ``observeCommits(_:)`` is the form with a closure.
    public var commits: AsyncStream<Commit> {
        AsyncStream { continuation in
            let observation = observeCommits({ continuation.yield($0) }, end: { continuation.finish() })
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
