import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// A factory of observations of one list, for the iterations of a sequence. Each observation ends when its token is released.
struct ListObservation: Sendable {
    /// Starts an observation that passes the list and then its changes to a handoff.
    let start: @Sendable (Handoff<ListStep>) async throws -> ObservationToken
}

extension ListObservation {
    /// Creates an observation on the queue of a stack.
    init<T: Model>(
        _ observation: BackgroundObservation, _ chain: FetchChain<T>, _ sectionBy: SectionBy<T>?, _ content: SnapshotContent<T>,
        _ site: CallSite
    ) {
        let weak = WeakReference(observation)
        start = { handoff in
            guard let observation = weak.object else {
                handoff.finish()
                return ObservationToken {}
            }
            let id = observation.newID()
            observation.add(id, site) { ListSubscriber(ListQuery(chain, sectionBy), content, handoff) }
            return ObservationToken { weak.object?.cancel(id) }
        }
    }

    /// Creates an observation of a view, which it retains.
    @MainActor
    init<T: Model>(
        _ view: ViewContext, _ chain: FetchChain<T>, _ sectionBy: SectionBy<T>?, _ content: SnapshotContent<T>
    ) {
        let core = view.core
        let start: @MainActor (Handoff<ListStep>) throws -> ObservationToken = { handoff in
            let follower = try ListFollower(ListQuery(chain, sectionBy), content, view) { handoff.add($0, $1) }
            handoff.update { $0 = ListStep(follower.contents, nil) }
            let end = core.sequenceEnds.add { handoff.finish() }
            let kept = MainActorBox(follower)
            return ObservationToken {
                core.sequenceEnds.remove(end)
                Task { @MainActor in kept.release() }
            }
        }
        self.start = { try await start($0) }
    }
}
