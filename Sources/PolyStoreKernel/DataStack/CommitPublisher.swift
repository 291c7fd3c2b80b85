import Dispatch
import PolyStoreBackend

/// Delivers committed changes to subscribed contexts and observers, and wakes the contexts; the last stage of a commit. Buffers nothing without subscriptions.
package final class CommitPublisher: Sendable {
    private struct WeakFeed {
        weak var feed: CommitFeed?
    }

    private struct Observer {
        let id: Int
        let handler: @Sendable (Commit) -> Void
        let end: @Sendable () -> Void
    }

    private struct State {
        var feeds: [WeakFeed] = []
        var observers: [Observer] = []
        var lastObserver = 0
        /// The number of subscriptions being added.
        var newSubscriptions = 0
    }

    private let views: ViewList
    private let state = Protected(State())
    /// The queue on which observers are called, one after another, in the order of the commits.
    private let queue = DispatchQueue(label: "polystore.observers")

    init(views: ViewList) { self.views = views }

    // MARK: Subscriptions

    /// Called before a subscription is added.
    func willSubscribe() { state.withLock { $0.newSubscriptions += 1 } }

    /// Adds the feed of a context, after ``willSubscribe()``.
    func add(_ feed: CommitFeed) {
        state.withLock { state in
            state.newSubscriptions -= 1
            state.feeds.removeAll { $0.feed == nil }
            state.feeds.append(WeakFeed(feed: feed))
        }
    }

    /// Adds an observer, after ``willSubscribe()``, and returns its identifier.
    /// - Parameter end: called after the last commit.
    func addObserver(_ handler: @escaping @Sendable (Commit) -> Void, end: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.newSubscriptions -= 1
            state.lastObserver += 1
            state.observers.append(Observer(id: state.lastObserver, handler: handler, end: end))
            return state.lastObserver
        }
    }

    package func removeObserver(_ id: Int) { state.withLock { state in state.observers.removeAll { $0.id == id } } }

    /// A Boolean value that indicates whether any context or observer is subscribed or about to be.
    var hasSubscribers: Bool {
        state.withLock { state in
            state.newSubscriptions > 0 || !state.observers.isEmpty || state.feeds.contains { $0.feed != nil }
        }
    }

    /// Notifies all observers that the stack was released, and removes them.
    func finish() {
        let observers = state.withLock { state in
            defer { state.observers = [] }
            return state.observers
        }
        guard !observers.isEmpty else { return }
        queue.async { for observer in observers { observer.end() } }
    }

    // MARK: Waking

    /// Wakes all subscribed contexts without a commit.
    func wakeFeeds() {
        let feeds = subscribers().feeds
        didDeliver(feeds)
        wake(feeds)
    }

    /// Wakes contexts to which commits were delivered. Called after the callers of the commits were acknowledged, so that a caller on the main actor continues
    /// before the callbacks of a view.
    func wake(_ feeds: [CommitFeed]) {
        for feed in feeds { feed.wake() }
        if feeds.contains(where: \.isOfView) { views.wake() }
    }

    private func didDeliver(_ feeds: [CommitFeed]) { if feeds.contains(where: \.isOfView) { views.didDeliver() } }

    // MARK: Publication

    /// The contexts to which commits were delivered.
    struct Delivery {
        var feeds: [CommitFeed] = []
        /// The newest versions of the snapshots given to contexts, by store index. They are newer than the commit if others have committed since.
        var shown: [Int: UInt64] = [:]
    }

    /// Delivers all transactions of one commit together, because several may share one version.
    /// - Parameter commits: the changes of each transaction; evaluated only if there are subscribers.
    /// - Returns: the contexts, which the caller wakes with ``wake(_:)``.
    func publish(_ commits: () -> [Commit]) -> Delivery {
        let (feeds, handlers) = subscribers()
        guard !feeds.isEmpty || !handlers.isEmpty else { return Delivery() }
        let commits = commits().filter { !$0.parts.isEmpty }
        guard !commits.isEmpty else { return Delivery() }
        let parts = commits.flatMap(\.parts)
        var shown: [Int: UInt64] = [:]
        for feed in feeds {
            var snapshots: [Int: any ReadTransaction] = [:]
            for part in parts where snapshots[part.store.index] == nil {
                // If this fails, the context begins its own snapshot.
                snapshots[part.store.index] = try? part.store.backend.beginRead()
            }
            for (store, snapshot) in snapshots { shown[store] = max(shown[store] ?? 0, snapshot.version) }
            feed.add(parts, snapshots)
        }
        if !handlers.isEmpty { queue.async { for commit in commits { for handler in handlers { handler(commit) } } } }
        didDeliver(feeds)
        return Delivery(feeds: feeds, shown: shown)
    }

    /// Reports that another process or stack changed a store, without the list of changes.
    /// - Parameter commit: the commit for the observers.
    func publishUnknown(_ store: PersistentStore, _ commit: Commit) -> Delivery {
        let (feeds, handlers) = subscribers()
        for feed in feeds {
            var snapshots: [Int: any ReadTransaction] = [:]
            snapshots[store.index] = try? store.backend.beginRead()
            feed.add([], unknown: store.index, snapshots)
        }
        if !handlers.isEmpty { queue.async { for handler in handlers { handler(commit) } } }
        didDeliver(feeds)
        return Delivery(feeds: feeds)
    }

    private func subscribers() -> (feeds: [CommitFeed], handlers: [@Sendable (Commit) -> Void]) {
        state.withLock { state in
            if state.feeds.contains(where: { $0.feed == nil }) { state.feeds.removeAll { $0.feed == nil } }
            return (state.feeds.compactMap(\.feed), state.observers.map(\.handler))
        }
    }
}
