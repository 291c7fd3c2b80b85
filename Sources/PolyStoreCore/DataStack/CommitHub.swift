import Dispatch
import PolyStoreBackend

/// The changes of one transaction in one store.
struct CommittedChanges: @unchecked Sendable {  // the change set is complete and no longer mutated
    let store: PersistentStore
    let version: UInt64
    let changes: ChangeSet
    /// The to-many relationships whose member list changed.
    let touched: [MemberKey]
    /// The entities of deleted objects in class hierarchies.
    var deletedKinds: [ObjectKey: String] = [:]
}

/// The commits that a subscribed context has not processed yet, in order, with a snapshot of each store as of the last of them. The context never
/// shows changes of a commit that it has not processed.
final class CommitFeed: Sendable {
    struct News {
        var commits: [CommittedChanges] = []
        /// The snapshots by store index.
        var snapshots: [Int: any ReadTransaction] = [:]
        /// The indexes of stores with commits whose changes are not listed.
        var unknown: Set<Int> = []
        var byteCount = 0
    }

    /// The maximum number of bytes buffered for a context. Beyond it the changes are dropped, and the context compares its objects with the store.
    private static let byteLimit = 16 << 20
    /// The approximate overhead of a small change set in addition to its records.
    private static let bytesPerCommit = 4 << 10

    private let news = Protected(News())
    /// Called on the writer's thread after each commit, and to wake the context without a commit.
    fileprivate let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void = {}) { self.wake = wake }

    fileprivate func add(_ commits: [CommittedChanges], unknown: Int? = nil, _ snapshots: [Int: any ReadTransaction]) {
        let outdated = news.withLock { news in
            news.commits += commits
            if let unknown { news.unknown.insert(unknown) }
            news.byteCount += commits.reduce(0) { $0 + $1.changes.byteCount + Self.bytesPerCommit }
            if news.byteCount > Self.byteLimit {
                news.unknown.formUnion(news.commits.lazy.map(\.store.index))
                news.commits = []
                news.byteCount = 0
            }
            return snapshots.compactMap { news.snapshots.updateValue($1, forKey: $0) }
        }
        for snapshot in outdated { snapshot.end() }
        wake()
    }

    func take() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    deinit { for snapshot in take().snapshots.values { snapshot.end() } }
}

/// Delivers committed changes to subscribed contexts and observers. Buffers nothing without subscriptions.
final class CommitHub: Sendable {
    private struct Follower {
        weak var feed: CommitFeed?
    }

    private struct State {
        var feeds: [Follower] = []
        var observers: [(id: Int, tell: @Sendable (Commit) -> Void, end: @Sendable () -> Void)] = []
        var lastObserver = 0
        /// The number of subscriptions being added.
        var coming = 0
    }

    private let state = Protected(State())
    /// Called before a subscription is added.
    let willFollow = Protected<(@Sendable () -> Void)?>(nil)
    /// The queue on which observers are called, one after another, in the order of the commits.
    private let queue = DispatchQueue(label: "polystore.observers")

    func follow(_ feed: CommitFeed) {
        prepareToFollow()
        state.withLock { state in
            state.coming -= 1
            state.feeds.removeAll { $0.feed == nil }
            state.feeds.append(Follower(feed: feed))
        }
    }

    /// Wakes all subscribed contexts without a commit.
    func wakeFollowers() { for feed in state.withLock({ $0.feeds.compactMap(\.feed) }) { feed.wake() } }

    /// A Boolean value that indicates whether any context is subscribed.
    var isActive: Bool { state.withLock { !$0.feeds.isEmpty } }

    /// A Boolean value that indicates whether any context or observer is subscribed or about to be.
    var isFollowed: Bool {
        state.withLock { state in state.coming > 0 || !state.observers.isEmpty || state.feeds.contains { $0.feed != nil } }
    }

    private func prepareToFollow() {
        state.withLock { $0.coming += 1 }
        willFollow.withLock { $0 }?()
    }

    /// Adds an observer and returns its identifier.
    /// - Parameter end: called after the last commit.
    func observe(_ tell: @escaping @Sendable (Commit) -> Void, end: @escaping @Sendable () -> Void) -> Int {
        prepareToFollow()
        return state.withLock { state in
            state.coming -= 1
            state.lastObserver += 1
            state.observers.append((state.lastObserver, tell, end))
            return state.lastObserver
        }
    }

    func removeObserver(_ id: Int) { state.withLock { state in state.observers.removeAll { $0.id == id } } }

    /// Notifies all observers that the stack was released, and removes them.
    func finish() {
        let observers = state.withLock { state in
            defer { state.observers = [] }
            return state.observers
        }
        guard !observers.isEmpty else { return }
        queue.async { for observer in observers { observer.end() } }
    }

    /// Delivers all transactions of one commit together, because several may share one version.
    /// - Parameter commits: the changes of each transaction; evaluated only if there are subscribers.
    /// - Returns: the newest versions of the snapshots given to contexts, by store index. They are newer than the commit if others have
    ///   committed since.
    @discardableResult
    func publish(_ commits: () -> [Commit]) -> [Int: UInt64] {
        let (feeds, observers) = followers()
        guard !feeds.isEmpty || !observers.isEmpty else { return [:] }
        let commits = commits().filter { !$0.parts.isEmpty }
        guard !commits.isEmpty else { return [:] }
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
        if !observers.isEmpty { queue.async { for commit in commits { for tell in observers { tell(commit) } } } }
        return shown
    }

    /// Reports that another process or stack changed a store, without the list of changes.
    /// - Parameter commit: the commit for the observers.
    func publishUnknown(_ store: PersistentStore, _ commit: Commit) {
        let (feeds, observers) = followers()
        for feed in feeds {
            var snapshots: [Int: any ReadTransaction] = [:]
            snapshots[store.index] = try? store.backend.beginRead()
            feed.add([], unknown: store.index, snapshots)
        }
        if !observers.isEmpty { queue.async { for tell in observers { tell(commit) } } }
    }

    private func followers() -> (feeds: [CommitFeed], observers: [@Sendable (Commit) -> Void]) {
        state.withLock { state in
            if state.feeds.contains(where: { $0.feed == nil }) { state.feeds.removeAll { $0.feed == nil } }
            return (state.feeds.compactMap(\.feed), state.observers.map(\.tell))
        }
    }
}
