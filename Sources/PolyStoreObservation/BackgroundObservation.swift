import Dispatch
import PolyStoreBackend
import PolyStoreKernel

/// The context for observation of a stack off the main actor, and the serial queue on which it is used. The context exists only while there are subscribers.
final class BackgroundObservation: StackPart, @unchecked Sendable {  // everything but the queue and the core is used on the queue alone
    private let core: StackCore
    private let queue = DispatchQueue(label: "polystore.observation")
    private let isScheduled = Protected(false)
    private let isUsed = Protected(false)
    private var context: RefreshableContext?
    private var subscribers: [Int: any BackgroundSubscriber] = [:]
    private var isFinished = false

    init(core: StackCore) { self.core = core }

    /// Starts a subscription asynchronously.
    /// - Parameter id: The identifier for ``cancel(_:)``; see ``newID()``.
    func add(_ id: Int, _ site: CallSite, _ make: @escaping @Sendable () -> any BackgroundSubscriber) {
        isUsed.withLock { $0 = true }
        queue.async { [self] in
            let subscriber = make()
            guard !isFinished else { return subscriber.finish(nil) }
            do {
                try subscriber.start(startedContext(site))
                subscribers[id] = subscriber
            } catch {
                subscriber.finish(error)
                dropUnusedContext()
            }
        }
    }

    /// Ends a subscription asynchronously.
    func cancel(_ id: Int) {
        queue.async { [self] in
            subscribers.removeValue(forKey: id)?.finish(nil)
            dropUnusedContext()
        }
    }

    /// Ends all subscriptions because the stack was released.
    func finish() {
        // Without subscriptions the queue is not used, because a block on it would delay closing the stores of a released stack.
        guard isUsed.withLock({ $0 }) else { return }
        queue.async { [self] in
            isFinished = true
            let all = subscribers
            subscribers = [:]
            dropUnusedContext()
            for (_, subscriber) in all.sorted(by: { $0.key < $1.key }) { subscriber.finish(nil) }
        }
    }

    private let lastID = Protected(0)

    func newID() -> Int {
        lastID.withLock { last in
            last += 1
            return last
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
        guard subscribers.isEmpty else { return }
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
