import PolyStoreKernel
import PolyStoreRuns

/// Observes a list off the main actor, for one consumer.
final class ListSubscriber<T: Model>: BackgroundSubscriber {
    private let query: ListQuery
    private let content: SnapshotContent<T>
    private let handoff: Handoff<ListStep>
    private var follower: ListFollower<T>?

    init(_ query: ListQuery, _ content: SnapshotContent<T>, _ handoff: Handoff<ListStep>) {
        self.query = query
        self.content = content
        self.handoff = handoff
    }

    func start(_ context: RefreshableContext) throws {
        let follower = try ListFollower(query, content, context) { [handoff] in handoff.add($0, $1) }
        handoff.update { $0 = ListStep(follower.contents, nil) }
        self.follower = follower
    }

    func finish(_ error: (any Error)?) {
        follower = nil
        handoff.finish(throwing: error)
    }
}
