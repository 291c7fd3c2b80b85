import Dispatch
import PolyStoreBackend

/// What one transaction changed in one store.
struct CommittedChanges: @unchecked Sendable {  // the change set is complete and never changed again
    let store: PersistentStore
    let version: UInt64
    let changes: ChangeSet
    /// To-many relationships whose list changed.
    let touched: [MemberKey]
    /// The entities of deleted objects of hierarchies.
    var deletedKinds: [ObjectKey: String] = [:]
}

/// What a context that follows the commits has still to hear of, in order, with a snapshot of each store as they left it: what the context then
/// shows is what it was told of, and nothing of a commit that it has still to hear about.
final class CommitFeed: Sendable {
    struct News {
        var commits: [CommittedChanges] = []
        /// By store.
        var snapshots: [Int: any ReadTransaction] = [:]
        /// Stores of which commits are missing here.
        var unknown: Set<Int> = []
        var byteCount = 0
    }

    /// So much is kept for a context that does not keep up. It then compares what it shows with the store.
    private static let byteLimit = 16 << 20
    private static let commitLimit = 16_384

    private let news = Protected(News())
    /// Called after each commit, on the thread of the writer.
    private let wake: @Sendable () -> Void

    init(wake: @escaping @Sendable () -> Void = {}) { self.wake = wake }

    fileprivate func add(_ commits: [CommittedChanges], unknown: Int? = nil, _ snapshots: [Int: any ReadTransaction]) {
        let outdated = news.withLock { news in
            news.commits += commits
            if let unknown { news.unknown.insert(unknown) }
            news.byteCount += commits.reduce(0) { $0 + $1.changes.byteCount }
            if news.byteCount > Self.byteLimit || news.commits.count > Self.commitLimit {
                news.unknown.formUnion(news.commits.lazy.map(\.store.index))
                news.commits = []
                news.byteCount = 0
            }
            return snapshots.compactMap { news.snapshots.updateValue($1, forKey: $0) }
        }
        for snapshot in outdated { snapshot.end() }
        wake()
    }

    /// Wakes the context without a commit.
    func storesDidChange() { wake() }

    func take() -> News {
        news.withLock { news in
            defer { news = News() }
            return news
        }
    }

    deinit { for snapshot in take().snapshots.values { snapshot.end() } }
}

/// Hands committed changes to all who follow them. Keeps nothing where nobody does.
final class CommitHub: Sendable {
    private struct Follower {
        weak var feed: CommitFeed?
    }

    private struct State {
        var feeds: [Follower] = []
        var observers: [(id: Int, tell: @Sendable (Commit) -> Void, end: @Sendable () -> Void)] = []
        var lastObserver = 0
        /// Followers and observers that are about to be added.
        var coming = 0
    }

    private let state = Protected(State())
    /// Called before somebody begins to follow the commits.
    let willFollow = Protected<(@Sendable () -> Void)?>(nil)
    /// Observers are called here, one after another, in the order of the commits.
    private let queue = DispatchQueue(label: "polystore.observers")

    func follow(_ feed: CommitFeed) {
        prepareToFollow()
        state.withLock { state in
            state.coming -= 1
            state.feeds.removeAll { $0.feed == nil }
            state.feeds.append(Follower(feed: feed))
        }
    }

    /// Called when a store was added.
    func storesDidChange() { for feed in state.withLock({ $0.feeds.compactMap(\.feed) }) { feed.storesDidChange() } }

    /// Whether a context follows.
    var isActive: Bool { state.withLock { !$0.feeds.isEmpty } }

    /// Whether a context or an observer follows, or is about to.
    var isFollowed: Bool {
        state.withLock { state in state.coming > 0 || !state.observers.isEmpty || state.feeds.contains { $0.feed != nil } }
    }

    private func prepareToFollow() {
        state.withLock { $0.coming += 1 }
        willFollow.withLock { $0 }?()
    }

    /// - Parameter end: called when there will be no more commits.
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

    /// The stack has gone.
    func finish() {
        let observers = state.withLock { state in
            defer { state.observers = [] }
            return state.observers
        }
        guard !observers.isEmpty else { return }
        queue.async { for observer in observers { observer.end() } }
    }

    /// Takes all transactions of one commit together: several may have one version.
    /// - Parameter commits: what each of them changed; made only if somebody wants to know.
    /// - Returns: the newest versions that the snapshots for contexts show, by store: later ones where others have committed since.
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
                // Where it fails the context begins one itself.
                snapshots[part.store.index] = try? part.store.backend.beginRead()
            }
            for (store, snapshot) in snapshots { shown[store] = max(shown[store] ?? 0, snapshot.version) }
            feed.add(parts, snapshots)
        }
        if !observers.isEmpty { queue.async { for commit in commits { for tell in observers { tell(commit) } } } }
        return shown
    }

    /// Says that others have changed a store, and that nobody knows what.
    /// - Parameter commit: for the observers.
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
