/// A set of operations for random programs. The narrow ones reach rare interactions sooner than ``everything``.
enum GraphProfile: String, CaseIterable, Sendable, CustomStringConvertible {
    case everything
    /// Relationships of and to deleted objects, and to objects that are gone.
    case deletions
    /// Ordered relationships, in children too.
    case orders
    /// Deletions in children of what pending links of the parent lead to.
    case children
    /// Conditions on objects of two stores and of another stack, in fetches.
    case conditions
    /// The same, in `batchUpdate` and `fetchOrCreate` too.
    case foreign
    /// Commits within the body of a transaction, and what is read behind them.
    case commits
    /// Undo and redo while others commit.
    case undo

    var description: String { rawValue }

    enum Action: CaseIterable {
        case create, delete, set, change, changeDeleted, relateGone, release, child, commit, step, refresh, other, fetch, batchUpdate,
            fetchOrCreate
    }

    /// How often actions are drawn, relative to each other.
    var weights: [(Action, Int)] {
        switch self {
        case .everything:
            [
                (.create, 14), (.delete, 8), (.set, 8), (.change, 32), (.changeDeleted, 4), (.relateGone, 2), (.release, 3), (.child, 8),
                (.commit, 3), (.step, 8), (.refresh, 2), (.other, 5), (.fetch, 6), (.batchUpdate, 2), (.fetchOrCreate, 2),
            ]
        case .deletions: [(.create, 16), (.delete, 10), (.change, 20), (.changeDeleted, 14), (.relateGone, 10), (.release, 2), (.child, 5)]
        case .orders: [(.create, 12), (.change, 50), (.delete, 2), (.child, 14), (.release, 3), (.commit, 3)]
        case .children: [(.create, 14), (.change, 26), (.delete, 8), (.child, 16), (.release, 3), (.set, 4)]
        case .conditions: [(.create, 16), (.change, 18), (.delete, 2), (.fetch, 30), (.child, 3)]
        case .foreign: [(.create, 16), (.change, 18), (.delete, 2), (.fetch, 26), (.batchUpdate, 6), (.fetchOrCreate, 6), (.child, 3)]
        case .commits: [(.create, 16), (.change, 20), (.delete, 5), (.set, 6), (.commit, 8), (.child, 8), (.fetch, 8)]
        case .undo:
            [(.create, 8), (.set, 20), (.change, 14), (.delete, 3), (.step, 26), (.refresh, 10), (.other, 20), (.commit, 2), (.release, 2)]
        }
    }

    var transactions: [GraphOperation.Kind] {
        switch self {
        case .everything: GraphOperation.Kind.allCases
        case .deletions, .conditions, .foreign: [.perform, .perform, .unsafe]
        case .orders, .children: [.perform, .unsafe, .unsafe]
        case .commits: [.synchronous]
        case .undo: [.undoable]
        }
    }

    var kinds: [GraphKind] {
        switch self {
        case .everything: GraphKind.allCases + [.person, .track, .project]
        case .deletions: [.person, .person, .department, .project, .human, .visit]
        case .orders: [.playlist, .playlist, .track, .track, .track, .tag]
        case .children: [.department, .project, .project, .playlist, .track, .person]
        case .conditions, .foreign: [.department, .department, .person, .person, .project, .project, .playlist, .track]
        case .commits: GraphKind.allCases
        case .undo: [.person, .person, .human, .department]
        }
    }

    var storeCount: Int { [.everything, .conditions, .foreign].contains(self) ? 2 : 1 }
}
