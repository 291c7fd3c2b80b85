import Dispatch
import PolyStoreBackend

/// Something that observes a stack off the main actor. All calls come on the queue of a ``BackgroundObservation``.
protocol BackgroundSubscriber: AnyObject {
    /// Called once, with the context to observe. What it throws ends the subscription.
    func start(_ context: RefreshableContext) throws
    /// Called once when the subscription ends, because it was cancelled, failed or the stack has gone.
    func finish(_ error: (any Error)?)
}

/// The context in which a stack is observed off the main actor, and the serial queue on which it is used. There is a context only while there are subscribers.
final class BackgroundObservation: @unchecked Sendable {  // everything but the queue and the core is used on the queue alone
    private let core: StackCore
    private let queue = DispatchQueue(label: "polystore.observation")
    private let isScheduled = Protected(false)
    private let isUsed = Protected(false)
    private var context: RefreshableContext?
    private var subscribers: [Int: any BackgroundSubscriber] = [:]
    private var isFinished = false

    init(core: StackCore) { self.core = core }

    /// Starts a subscription, soon.
    /// - Parameter id: what it is cancelled by; see ``newID()``.
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

    /// Ends a subscription, soon.
    func cancel(_ id: Int) {
        queue.async { [self] in
            subscribers.removeValue(forKey: id)?.finish(nil)
            dropUnusedContext()
        }
    }

    /// Ends all subscriptions: the stack has gone.
    func finish() {
        // A stack that is released closes its stores at once where nothing else holds them; the queue would.
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

    /// Brings the context up to date, soon, and once for all commits until then.
    private func schedule() {
        let isFirst = isScheduled.withLock { isScheduled in
            defer { isScheduled = true }
            return !isScheduled
        }
        guard isFirst else { return }
        queue.async { [self] in
            isScheduled.withLock { $0 = false }
            guard let context else { return }
            do { try context.catchUp() } catch { core.logger.write(.error, "Observers could not follow a commit: \(error)") }
        }
    }
}
