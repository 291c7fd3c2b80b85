import Dispatch
import Foundation
import PolyStoreBackend

/// The write queue of a stack: runs one transaction at a time, in FIFO order, and passes the open commit group from one transaction to the next.
///
/// The thread that owns the write queue has exclusive access to the commit group. Asynchronous transactions run on a dispatch queue, one after
/// another on one thread. Synchronous transactions run on their callers' threads if the backend allows a commit group to change threads.
final class WriterLane: Awaited {
    /// A queued asynchronous transaction.
    struct Job: Sendable {
        let durability: Durability?
        /// Identifies the job in order to remove it from the queue.
        let ticket: Ticket?
        /// Called exactly once: with the commit group when the job reaches the head of the queue, or with nil if it was removed from the queue.
        let run: @Sendable (CommitGroup?) -> Void
    }

    /// A caller that blocks its own thread until its turn.
    final class Waiter: @unchecked Sendable {  // `group` is written before the signal and read after it
        fileprivate let turn = DispatchSemaphore(value: 0)
        fileprivate var group: CommitGroup?
        fileprivate let durability: Durability?

        fileprivate init(_ durability: Durability?) { self.durability = durability }
    }

    private enum Entry {
        case job(Job)
        case waiter(Waiter)

        var durability: Durability? {
            switch self {
            case .job(let job): job.durability
            case .waiter(let waiter): waiter.durability
            }
        }
    }

    private struct State {
        /// The queued transactions. The first `taken` entries have already been dequeued.
        var line: [Entry] = []
        var taken = 0
        /// A Boolean value that indicates whether a transaction or a commit is running.
        var isBusy = false
        /// The thread that owns the queue.
        var owner: UInt = 0

        var first: Entry? { taken < line.count ? line[taken] : nil }

        mutating func removeFirst() {
            taken += 1
            if taken == line.count {
                line.removeAll(keepingCapacity: true)
                taken = 0
            } else if taken >= 256 && taken * 2 >= line.count {
                line.removeSubrange(..<taken)
                taken = 0
            }
        }
    }

    private let state = Protected(State())
    /// A dispatch queue, because a backend may block and must not block Swift's cooperative threads. Its quality of service differs from that of the
    /// queues on which stepwise transactions and batches wait for this one, so that it gets a thread even if they block many.
    private let queue = DispatchQueue(label: "polystore.writer", qos: .userInitiated)

    /// A Boolean value that indicates whether the calling thread runs a transaction of this queue. Waiting for another one would then deadlock.
    var isHeldByCaller: Bool { state.withLock { $0.owner == currentThreadNumber() } }

    /// The number of queued transactions.
    var count: Int { state.withLock { $0.line.count - $0.taken } }

    // MARK: Asynchronous transactions

    /// Appends a transaction to the queue and returns immediately.
    func enqueue(_ job: Job, _ core: StackCore) {
        guard core.process.isCurrent else { return job.run(nil) }
        let isFree = state.withLock { state in
            state.line.append(.job(job))
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFree { start(CommitGroup(core)) }
    }

    /// Removes a transaction from the queue if it has not started.
    func withdraw(_ ticket: Ticket) {
        let job: Job? = state.withLock { state in
            for place in state.taken..<state.line.count {
                guard case .job(let job) = state.line[place], job.ticket === ticket else { continue }
                state.line.remove(at: place)
                return job
            }
            return nil
        }
        job?.run(nil)
    }

    private func start(_ group: CommitGroup) { queue.async { self.serve(group) } }

    /// Runs queued transactions until the queue is empty or the next one runs on its caller's thread.
    private func serve(_ group: CommitGroup) {
        while true {
            switch next(group) {
            case .run(let job): job.run(group)
            case .commit: group.commit()
            case .gone: return
            }
        }
    }

    private enum Step {
        case run(Job)
        case commit
        case gone
    }

    private func next(_ group: CommitGroup) -> Step {
        state.withLock { state in
            guard let first = state.first else {
                if group.isOpen { return .commit }
                state.isBusy = false
                state.owner = 0
                return .gone
            }
            guard group.admits(first.durability) else { return .commit }
            switch first {
            case .job(let job):
                state.removeFirst()
                state.owner = currentThreadNumber()
                return .run(job)
            case .waiter(let waiter):
                guard !group.isOpen || group.isTransferable else { return .commit }
                hand(group, to: waiter, &state)
                return .gone
            }
        }
    }

    private func hand(_ group: CommitGroup, to waiter: Waiter, _ state: inout State) {
        state.removeFirst()
        state.owner = 0
        waiter.group = group
        waiter.turn.signal()
    }

    // MARK: Synchronous transactions

    /// Waits for the caller's turn. The transaction then runs on the caller's thread.
    ///
    /// The caller must call `leave` afterwards. The group may then be passed on to other transactions; `body` and ``CommitGroup`` track whether it
    /// was.
    /// - Throws: `misuse` if waiting would deadlock: the caller runs a transaction of this queue, or one of another queue for which the owner of this
    ///   queue is waiting.
    func enter(_ durability: Durability?, _ core: StackCore) throws -> CommitGroup {
        try core.process.check("This stack")
        guard !isHeldByCaller else {
            throw StoreError(
                .misuse,
                "A transaction was begun inside the body of another one and would wait for it: a deadlock. Use the outer transaction.")
        }
        let waiter: Waiter? = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                state.owner = currentThreadNumber()
                return nil
            }
            let waiter = Waiter(durability)
            state.line.append(.waiter(waiter))
            return waiter
        }
        guard let waiter else { return CommitGroup(core) }
        do {
            try LaneWaits.shared.begin(self)
        } catch  where withdraw(waiter) {
            throw error
        } catch {
            // The group was handed over in the meantime, so the caller does not wait.
        }
        waiter.turn.wait()
        LaneWaits.shared.end()
        return state.withLock { state in
            state.owner = currentThreadNumber()
            defer { waiter.group = nil }
            return waiter.group ?? CommitGroup(core)
        }
    }

    private func withdraw(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            for place in state.taken..<state.line.count {
                guard case .waiter(let other) = state.line[place], other === waiter else { continue }
                state.line.remove(at: place)
                return true
            }
            return false
        }
    }

    /// The thread that owns the queue, or 0 if it is unknown.
    var owner: UInt { state.withLock { $0.owner } }

    /// Passes the queue to the next transaction.
    /// - Parameter isPatient: whether the caller's transaction may wait for further transactions in order to be committed with them. If false, or on
    ///   the main thread, it is committed before the next transaction starts.
    func leave(_ group: CommitGroup, isPatient: Bool) {
        while true {
            let mustCommit: Bool = state.withLock { state in
                guard let first = state.first else {
                    if group.isOpen { return true }
                    state.isBusy = false
                    state.owner = 0
                    return false
                }
                if group.isOpen, !isPatient || Thread.isMainThread || !group.isTransferable || !group.admits(first.durability) {
                    return true
                }
                switch first {
                case .job:
                    state.owner = 0
                    start(group)
                case .waiter(let waiter): hand(group, to: waiter, &state)
                }
                return false
            }
            guard mustCommit else { return }
            group.commit()
        }
    }
}
