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

        /// Removes released feeds and returns the others. The caller keeps the result until it has released the lock: another thread may release its
        /// references to a feed meanwhile, and the snapshots of that feed call their backend when they are released.
        mutating func livingFeeds() -> [CommitFeed] {
            let living = feeds.compactMap(\.feed)
            if living.count < feeds.count { feeds = living.map { WeakFeed(feed: $0) } }
            return living
        }
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
        let living = state.withLock { state in
            state.newSubscriptions -= 1
            let living = state.livingFeeds()
            state.feeds.append(WeakFeed(feed: feed))
            return living
        }
        withExtendedLifetime(living) {}
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

    package func removeObserver(_ id: Int) {
        let removed = state.withLock { state in
            state.observers.firstIndex { $0.id == id }.map { state.observers.remove(at: $0) }
        }
        withExtendedLifetime(removed) {}
    }

    /// A Boolean value that indicates whether any context or observer is subscribed or about to be.
    var hasSubscribers: Bool { subscription.exists }

    /// Whether any context or observer is subscribed or about to be, and the feed that proves it. The caller releases the feed after its own lock.
    var subscription: (exists: Bool, feed: CommitFeed?) {
        state.withLock { state in
            if state.newSubscriptions > 0 || !state.observers.isEmpty { return (true, nil) }
            for reference in state.feeds { if let feed = reference.feed { return (true, feed) } }
            return (false, nil)
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
        if feeds.contains(where: \.isOfView) { views.didDeliver() }
        wake(feeds)
    }

    /// Wakes contexts to which commits were delivered. Called after the callers of the commits were acknowledged, so that a caller on the main actor continues
    /// before the callbacks of a view.
    func wake(_ feeds: [CommitFeed]) {
        for feed in feeds { feed.wake() }
        if feeds.contains(where: \.isOfView) { views.wake() }
    }

    // MARK: Publication

    /// The contexts and observers to which a commit is delivered.
    struct Subscribers {
        var feeds: [CommitFeed] = []
        fileprivate var handlers: [@Sendable (Commit) -> Void] = []

        var isEmpty: Bool { feeds.isEmpty && handlers.isEmpty }
    }

    func subscribers() -> Subscribers {
        state.withLock { state in
            Subscribers(feeds: state.livingFeeds(), handlers: state.observers.map(\.handler))
        }
    }

    /// Commits that are ready to be delivered together, because several may share one version, with the snapshots that show them.
    struct Publication {
        fileprivate let commits: [Commit]
        fileprivate let parts: [CommittedChanges]
        /// The index of a store with a commit whose changes are not listed.
        fileprivate let unknown: Int?
        /// The snapshots of each feed by store index, in the order of the feeds.
        fileprivate let snapshots: [[Int: SharedSnapshot]]

        /// Creates a publication and opens its snapshots: one of each store for all views, and one for each other context, which reads on a thread of its own.
        /// If one cannot be opened or is given back, the contexts begin their own; and so do those that move later, on servers with short snapshots.
        init(_ commits: [Commit], unknownIn store: PersistentStore? = nil, for subscribers: Subscribers) {
            self.commits = commits
            parts = commits.flatMap(\.parts)
            unknown = store?.index
            guard !subscribers.feeds.isEmpty else {
                snapshots = []
                return
            }
            var stores = store.map { [$0] } ?? []
            for part in parts where !stores.contains(where: { $0 === part.store }) { stores.append(part.store) }
            let viewCount = subscribers.feeds.count(where: \.isOfView)
            var ofViews: [Int: SharedSnapshot] = [:]
            if viewCount > 0 { ofViews = Self.open(stores, users: viewCount) }
            let lasting = stores.contains(where: \.hasShortSnapshots) ? stores.filter { !$0.hasShortSnapshots } : stores
            snapshots = subscribers.feeds.map { $0.isOfView ? ofViews : Self.open($0.isWoken ? stores : lasting, users: 1) }
        }

        private static func open(_ stores: [PersistentStore], users: Int) -> [Int: SharedSnapshot] {
            var opened: [Int: SharedSnapshot] = [:]
            for store in stores {
                // The reader that keeps the last session can wait for this commit.
                guard let snapshot = try? SharedSnapshot(of: store, users: users, mayWait: false) else { continue }
                opened[store.index] = snapshot
                snapshot.session?.release()
            }
            return opened
        }

        /// The newest version of the snapshots of a store. It is newer than the commit if others have committed since.
        func shownVersion(_ store: PersistentStore) -> UInt64 { snapshots.compactMap { $0[store.index]?.version }.max() ?? 0 }

        /// Releases the snapshots of a publication that is not delivered.
        func discard() { for snapshot in snapshots.joined() { snapshot.value.release() } }
    }

    /// Delivers a publication. The caller holds the lock that orders all publications, and calls no backend while it does.
    /// - Returns: outdated snapshots, which the caller releases without the lock.
    func deliver(_ publication: Publication, to subscribers: Subscribers) -> [SharedSnapshot] {
        var outdated: [SharedSnapshot] = []
        for (feed, snapshots) in zip(subscribers.feeds, publication.snapshots) {
            outdated += feed.add(publication.parts, unknown: publication.unknown, snapshots)
        }
        if subscribers.feeds.contains(where: \.isOfView) { views.didDeliver() }
        let handlers = subscribers.handlers
        if !handlers.isEmpty {
            queue.async { [commits = publication.commits] in for commit in commits { for handler in handlers { handler(commit) } } }
        }
        return outdated
    }
}
