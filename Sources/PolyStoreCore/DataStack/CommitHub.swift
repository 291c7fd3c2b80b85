import PolyStoreBackend

/// What one transaction changed in one store.
struct CommittedChanges: @unchecked Sendable {  // the change set is complete and never changed again
    let store: PersistentStore
    let version: UInt64
    let changes: ChangeSet
    /// To-many relationships whose list changed.
    let touched: [MemberKey]
}

/// Hands committed changes to the view, in order. Keeps nothing until there is a view.
final class CommitHub: Sendable {
    private struct State {
        var isActive = false
        var pending: [CommittedChanges] = []
    }

    private let state = Protected(State())

    func activate() { state.withLock { $0.isActive = true } }

    /// Whether anybody waits for commits.
    var isActive: Bool { state.withLock { $0.isActive } }

    func publish(_ commits: [CommittedChanges]) {
        state.withLock { if $0.isActive { $0.pending += commits } }
    }

    func take() -> [CommittedChanges] {
        state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
    }

    /// Keeps commits for the next time, before those that came meanwhile.
    func putBack(_ commits: [CommittedChanges]) {
        if !commits.isEmpty { state.withLock { $0.pending = commits + $0.pending } }
    }
}
