import PolyStoreBackend

/// What one transaction changed in one store.
struct CommittedChanges: @unchecked Sendable {  // the change set is complete and never changed again
    let store: PersistentStore
    let version: UInt64
    let changes: ChangeSet
    /// To-many relationships whose list changed.
    let touched: [MemberKey]
}

/// Hands committed changes to the view, in order, with a snapshot of each store as they left it: what the view then shows is what it was told of, and
/// nothing of a commit that it has still to hear about. Keeps nothing until there is a view.
final class CommitHub: Sendable {
    struct News {
        var commits: [CommittedChanges] = []
        /// By store.
        var snapshots: [Int: any ReadTransaction] = [:]
    }

    private struct State {
        var isActive = false
        var news = News()
    }

    private let state = Protected(State())

    func activate() { state.withLock { $0.isActive = true } }

    /// Whether anybody waits for commits.
    var isActive: Bool { state.withLock { $0.isActive } }

    /// Takes all changes of a commit together: several transactions may have one version.
    func publish(_ commits: [CommittedChanges], _ snapshots: [Int: any ReadTransaction]) {
        let outdated: [any ReadTransaction] = state.withLock { state in
            guard state.isActive else { return Array(snapshots.values) }
            state.news.commits += commits
            return snapshots.compactMap { state.news.snapshots.updateValue($1, forKey: $0) }
        }
        for snapshot in outdated { snapshot.end() }
    }

    func take() -> News {
        state.withLock { state in
            defer { state.news = News() }
            return state.news
        }
    }
}
