import Dispatch
import Foundation
import PolyStoreBackend
import PolyStoreRuns
import Synchronization

/// The write queue of a stack: runs one transaction at a time, in FIFO order, and passes the commit group from one transaction to the next.
///
/// The thread that owns the write queue has exclusive access to the commit group. Asynchronous transactions run on a dispatch queue, one after
/// another on one thread. Synchronous transactions run on their callers' threads if the backend allows a commit group to change threads.
final class WriteQueue: Sendable {
    /// A caller that blocks its own thread until its turn.
    private final class Waiter: Sendable {
        let turn = DispatchSemaphore(value: 0)
        let durability: Durability?

        init(_ durability: Durability?) { self.durability = durability }
    }

    private enum Entry {
        case transaction(QueuedTransaction)
        case waiter(Waiter)

        var durability: Durability? {
            switch self {
            case .transaction(let transaction): transaction.durability
            case .waiter(let waiter): waiter.durability
            }
        }
    }

    private struct State {
        /// The queued transactions. The first `dequeued` entries have already been dequeued and are nil, so that their closures are released.
        private(set) var entries: [Entry?] = []
        private(set) var dequeued = 0
        /// A Boolean value that indicates whether a transaction or a commit is running.
        var isBusy = false

        var first: Entry? { dequeued < entries.count ? entries[dequeued] : nil }

        mutating func append(_ entry: Entry) { entries.append(entry) }

        /// Dequeues the first entry. The caller keeps the entry until it has released the lock, because releasing a closure can call into the stack.
        mutating func removeFirst() {
            entries[dequeued] = nil
            dequeued += 1
            discardDequeued()
        }

        /// Removes the first entry that satisfies a condition, and returns it; nil if there is none.
        mutating func remove(where condition: (Entry) -> Bool) -> Entry? {
            for index in dequeued..<entries.count {
                guard let entry = entries[index], condition(entry) else { continue }
                entries.remove(at: index)
                discardDequeued()
                return entry
            }
            return nil
        }

        private mutating func discardDequeued() {
            if dequeued == entries.count {
                entries.removeAll(keepingCapacity: true)
                dequeued = 0
            } else if dequeued >= 256 && dequeued * 2 >= entries.count {
                entries.removeSubrange(..<dequeued)
                dequeued = 0
            }
        }
    }

    private let process: OwningProcess
    /// The commit group; accessed only by the owner of the queue.
    private let group: CommitGroup
    /// The thread that owns the queue.
    private let owner: OwningThread
    private let state = Protected(State(), .writeQueue)
    /// The number of queued transactions, changed under the lock. The owner of the queue reads it in order to commit its group without the lock.
    private let queuedCount = Atomic(0)
    /// A dispatch queue, because a backend may block and must not block Swift's cooperative threads. Its quality of service differs from that of the
    /// queues on which stepwise transactions and batches wait for this one, so that it gets a thread even if they block many.
    private let queue = DispatchQueue(label: "polystore.writer", qos: .userInitiated)

    init(_ group: CommitGroup, _ process: OwningProcess) {
        self.group = group
        self.process = process
        owner = group.owner
    }

    /// The number of queued transactions.
    var count: Int { queuedCount.load(ordering: .acquiring) }

    private func append(_ entry: Entry, _ state: inout State) {
        state.append(entry)
        queuedCount.add(1, ordering: .acquiringAndReleasing)
    }

    private func removeFirst(_ state: inout State) {
        state.removeFirst()
        queuedCount.subtract(1, ordering: .acquiringAndReleasing)
    }

    private func remove(_ condition: (Entry) -> Bool, _ state: inout State) -> Entry? {
        let entry = state.remove(where: condition)
        if entry != nil { queuedCount.subtract(1, ordering: .acquiringAndReleasing) }
        return entry
    }

    // MARK: Asynchronous transactions

    /// Appends a transaction to the queue and returns immediately.
    func enqueue(_ transaction: QueuedTransaction) {
        guard process.isCurrent else { return transaction.run(nil) }
        let isFree = state.withLock { state in
            append(.transaction(transaction), &state)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFree { start(transaction) }
    }

    /// Removes a transaction from the queue if it has not started.
    func remove(_ interruption: Interruption) {
        let entry = state.withLock { state in
            remove({ if case .transaction(let transaction) = $0 { transaction.interruption === interruption } else { false } }, &state)
        }
        if case .transaction(let transaction)? = entry { transaction.run(nil) }
    }

    /// Starts the queue's thread.
    /// - Parameter transaction: A queued transaction, which retains the stack until the thread has dequeued another one.
    private func start(_ transaction: QueuedTransaction) { queue.async { self.serve(transaction) } }

    /// Runs queued transactions until the queue is empty or the next one runs on its caller's thread.
    private func serve(_ transaction: QueuedTransaction) {
        // Retains the stack until the commit of the last transaction.
        var last = transaction
        defer { withExtendedLifetime(last) {} }
        while true {
            if isGroupComplete { group.commit() }
            switch next() {
            case .run(let transaction):
                last = transaction
                transaction.run(group)
            case .commit: group.commit()
            case .stop: return
            }
        }
    }

    /// A Boolean value that indicates whether no transaction is queued that could join the commit group, which is then committed without the lock.
    private var isGroupComplete: Bool { group.isOpen && queuedCount.load(ordering: .acquiring) == 0 }

    private enum Step {
        case run(QueuedTransaction)
        case commit
        /// The queue is empty or belongs to a waiting caller.
        case stop
    }

    private func next() -> Step {
        state.withLock { state in
            guard let first = state.first else {
                if group.isOpen { return .commit }
                state.isBusy = false
                owner.clear()
                return .stop
            }
            guard group.admits(first.durability) else { return .commit }
            switch first {
            case .transaction(let transaction):
                removeFirst(&state)
                owner.setToCaller()
                return .run(transaction)
            case .waiter(let waiter):
                guard !group.isOpen || group.isTransferable else { return .commit }
                transfer(to: waiter, &state)
                return .stop
            }
        }
    }

    /// Passes the queue to a waiting caller.
    private func transfer(to waiter: Waiter, _ state: inout State) {
        removeFirst(&state)
        owner.clear()
        waiter.turn.signal()
    }

    // MARK: Synchronous transactions

    /// Waits for the caller's turn. The transaction then runs on the caller's thread.
    ///
    /// The caller must call `leave` afterwards. The group may then be passed on to other transactions.
    /// - Returns: the commit group.
    /// - Throws: `misuse` if waiting would deadlock: the caller runs a transaction of this queue, or one of another queue for which the owner of this
    ///   queue is waiting; and the error of the interruption if it comes first.
    func enter(_ durability: Durability?, _ interruption: Interruption? = nil) throws -> CommitGroup {
        try process.check("This stack")
        try interruption?.check()
        guard !owner.isCaller else {
            throw StoreError(
                .misuse,
                "A transaction was begun inside the body of another one and would wait for it: a deadlock. Use the outer transaction.")
        }
        let waiter: Waiter? = state.withLock { state in
            guard state.isBusy else {
                state.isBusy = true
                owner.setToCaller()
                return nil
            }
            let waiter = Waiter(durability)
            append(.waiter(waiter), &state)
            return waiter
        }
        guard let waiter else { return group }
        do {
            try WaitForGraph.shared.beginWaiting(for: owner)
        } catch  where remove(waiter) {
            throw error
        } catch {
            // The queue was passed on in the meantime, so the caller does not wait.
        }
        defer { WaitForGraph.shared.endWaiting() }
        while waiter.turn.wait(timeout: interruption?.dispatchDeadline ?? .distantFuture) == .timedOut {
            if let error = interruption?.error, remove(waiter) { throw error }
        }
        owner.setToCaller()
        return group
    }

    private func remove(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            remove({ if case .waiter(let other) = $0 { other === waiter } else { false } }, &state) != nil
        }
    }

    /// Passes the queue to the next transaction.
    /// - Parameter isPatient: whether the caller's transaction may wait for further transactions in order to be committed with them. If false, or on
    ///   the main thread, it is committed before the next transaction starts.
    func leave(isPatient: Bool) {
        if isGroupComplete { group.commit() }
        while true {
            let mustCommit: Bool = state.withLock { state in
                guard let first = state.first else {
                    if group.isOpen { return true }
                    state.isBusy = false
                    owner.clear()
                    return false
                }
                if group.isOpen, !isPatient || Thread.isMainThread || !group.isTransferable || !group.admits(first.durability) {
                    return true
                }
                switch first {
                case .transaction(let transaction):
                    owner.clear()
                    start(transaction)
                case .waiter(let waiter): transfer(to: waiter, &state)
                }
                return false
            }
            guard mustCommit else { return }
            group.commit()
        }
    }
}
