import Dispatch
import Synchronization

/// The outcome of a transaction whose caller blocks its thread until it has ended.
final class AwaitedOutcome: OutcomeReceiver, @unchecked Sendable {  // the properties are written before `phase`, and read after it
    private enum Phase {
        static let pending = 0, isWaiting = 1, isSet = 2
    }

    private let phase = Atomic<Int>(Phase.pending)
    private var outcome = TransactionOutcome.discarded
    /// Created only if the outcome is awaited before it is received.
    private var signal: DispatchSemaphore?

    func receive(_ outcome: TransactionOutcome) {
        self.outcome = outcome
        if phase.exchange(Phase.isSet, ordering: .acquiringAndReleasing) == Phase.isWaiting { signal?.signal() }
    }

    /// Waits for the outcome.
    /// - Returns: whether the commit had changes; nil if the body did not request it.
    /// - Throws: the error of a failed transaction.
    @discardableResult
    func wait() throws -> Bool? {
        if phase.load(ordering: .acquiring) != Phase.isSet { block() }
        switch outcome {
        case .committed(let hadChanges): return hadChanges
        case .discarded: return nil
        case .failed(let error): throw error
        }
    }

    private func block() {
        let signal = DispatchSemaphore(value: 0)
        self.signal = signal
        let (isWaiting, _) = phase.compareExchange(
            expected: Phase.pending, desired: Phase.isWaiting, ordering: .acquiringAndReleasing)
        if isWaiting { signal.wait() }
    }
}
