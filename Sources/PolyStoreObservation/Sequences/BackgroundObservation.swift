import Dispatch
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The context for observation of a stack off the main actor, and the serial queue on which it is used. The context exists only while lists are followed.
final class BackgroundObservation: StackPart, @unchecked Sendable {  // everything but the queue and the core is used on the queue alone
    private let core: StackCore
    private let queue = DispatchQueue(label: "polystore.observation")
    private let isScheduled = Protected(false)
    private let isUsed = Protected(false)
    private var context: RefreshableContext?
    private var lists: [Int: (list: FollowedList, handoff: Handoff<ListStep>)] = [:]
    private let lastID = Protected(0)
    private var isFinished = false

    init(core: StackCore) { self.core = core }

    /// Follows a list for one consumer. The list is read asynchronously; an error ends the elements of the consumer.
    /// - Parameter make: Returns the list. Called once, on the queue.
    /// - Returns: The token whose release ends the observation.
    func follow(
        _ handoff: Handoff<ListStep>, _ site: CallSite, _ make: @escaping @Sendable (RefreshableContext) throws -> FollowedList
    ) -> ObservationToken {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        isUsed.withLock { $0 = true }
        queue.async { [self] in
            guard !isFinished else { return handoff.finish() }
            do {
                let list = try make(startedContext(site))
                list.deliver(to: handoff)
                lists[id] = (list, handoff)
            } catch {
                handoff.finish(throwing: error)
                dropUnusedContext()
            }
        }
        return ObservationToken { [weak self] in self?.end(id) }
    }

    private func end(_ id: Int) {
        queue.async { [self] in
            lists.removeValue(forKey: id)?.handoff.finish()
            dropUnusedContext()
        }
    }

    /// Ends all observations because the stack was released.
    func finish() {
        // Without lists the queue is not used, because a block on it would delay closing the stores of a released stack.
        guard isUsed.withLock({ $0 }) else { return }
        queue.async { [self] in
            isFinished = true
            let all = lists
            lists = [:]
            dropUnusedContext()
            for (_, (_, handoff)) in all.sorted(by: { $0.key < $1.key }) { handoff.finish() }
        }
    }

    private func startedContext(_ site: CallSite) throws -> RefreshableContext {
        if let context { return context }
        try core.process.check("This stack")
        let new = RefreshableContext(core: core, table: core.table.withLock { $0 }, site)
        new.follow(CommitFeed { [weak self] in self?.schedule() })
        context = new
        return new
    }

    private func dropUnusedContext() {
        guard lists.isEmpty else { return }
        context?.end()
        context = nil
    }

    /// Schedules an update of the context that covers all commits until it runs.
    private func schedule() {
        let isFirst = isScheduled.withLock { isScheduled in
            defer { isScheduled = true }
            return !isScheduled
        }
        guard isFirst else { return }
        queue.async { [self] in
            isScheduled.withLock { $0 = false }
            context?.catchUpOrRefresh(
                core.logger, failure: "Observers could not follow a commit", staleness: "Observers show an earlier version")
        }
    }
}

extension DataStack {
    /// The observations outside of the main actor.
    var observation: BackgroundObservation { part(BackgroundObservation.self) }
}
