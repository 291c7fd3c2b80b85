import Dispatch
import Foundation
import PolyStoreBackend

/// Lets one transaction run at a time, in the order in which they were asked for, and hands the group of those that are to be committed
/// together from one to the next.
///
/// Who has the lane has the group. Asynchronous transactions run on the lane's queue, one after another on one thread; those of callers that
/// wait run on the callers' threads, where a group can go there.
final class WriterLane: Awaited {
    /// A transaction in line.
    struct Job: Sendable {
        let durability: Durability?
        /// By which it can be taken out of the line.
        let ticket: Ticket?
        /// Called once: with the group when its turn has come, with nil where it was taken out of the line.
        let run: @Sendable (CommitGroup?) -> Void
    }

    /// A caller who waits on a thread of his own.
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
        /// Those who wait; the first `taken` are gone already.
        var line: [Entry] = []
        var taken = 0
        /// Whether somebody has the lane.
        var isBusy = false
        /// The thread that has it.
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
    /// A queue of Dispatch's, as a backend may block and Swift's cooperative threads must not. Of another class than those on which transactions in steps
    /// and batches wait for this lane: however many threads they hold up, one is left for it.
    private let queue = DispatchQueue(label: "polystore.writer", qos: .userInitiated)

    /// Whether the calling thread is in a transaction of this lane: a wait would never end.
    var isHeldByCaller: Bool { state.withLock { $0.owner == currentThreadNumber() } }

    /// How many wait.
    var count: Int { state.withLock { $0.line.count - $0.taken } }

    // MARK: Asynchronous transactions

    /// Puts a transaction at the end of the line and returns at once.
    func enqueue(_ job: Job, _ core: StackCore) {
        guard core.process.isCurrent else { return job.run(nil) }
        let isFree = state.withLock { state in
            state.line.append(.job(job))
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFree { start(CommitGroup(core)) }
    }

    /// Takes a transaction out of the line, if it is there.
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

    /// Runs what is in line until a caller with a thread of his own is next, or nobody.
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

    // MARK: Callers who wait

    /// Waits for the caller's turn, and runs on his thread.
    ///
    /// The group may go on to others afterwards; whether it did is for `body` and ``CommitGroup`` to know. `leave` must follow.
    /// - Throws: `misuse` where the caller would wait for ever: he is in a transaction of this lane, or in one of another that somebody waits for who
    ///   has this one.
    func enter(_ durability: Durability?, _ core: StackCore) throws -> CommitGroup {
        try core.process.check("This stack")
        guard !isHeldByCaller else {
            throw StoreError(
                .misuse, "A transaction was begun inside another one's body and would wait for itself for ever; use the outer transaction.")
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
            // The turn has come meanwhile, so there is nothing to wait for.
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

    /// The thread that has the lane; 0 where none is known to.
    var owner: UInt { state.withLock { $0.owner } }

    /// Gives the lane to the next.
    /// - Parameter isPatient: whether the caller's own transaction may wait for those of others to be committed together. Otherwise, and on the
    ///   main thread, it is committed before anybody else goes on.
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
