import PolyStoreBackend

/// The pauses between the attempts of a transaction that is run again.
///
/// Each pause is a random duration between the half and the whole of a bound, which doubles from pause to pause until the fifth one. With the default, the five pauses
/// take between 155 and 310 ms in all.
package struct BackOff: Sendable {
    /// The default number of repetitions of a transaction, and of requests for the outcome of a commit.
    package static let limit = 5

    /// The bound of the first pause; zero for none, in tests.
    package var first: Duration

    package init(first: Duration = .milliseconds(10)) { self.first = first }

    /// Returns the pause before an attempt is repeated.
    /// - Parameters:
    ///   - number: The number of the repetition, from 1.
    ///   - jitter: The part of the bound, from 0.5 to 1.
    package func pause(before number: Int, jitter: Double = .random(in: 0.5...1)) -> Duration {
        first * (1 << min(max(0, number - 1), 4)) * jitter
    }

    /// Blocks the thread for the pause before an attempt is repeated.
    /// - Parameter longest: The longest pause; nil for any.
    func wait(before number: Int, atMost longest: Duration? = nil) {
        let pause = pause(before: number)
        let milliseconds = min(pause, longest ?? pause).inMilliseconds
        if milliseconds > 0 { Deadline.pause(milliseconds: milliseconds) }
    }

    // MARK: Transactions

    /// Runs a transaction or a read again after the error of its first attempt, until it succeeds, fails with an error that does not permit a repetition, or was repeated
    /// as often as permitted.
    /// - Parameters:
    ///   - limit: The number of times that it may be repeated.
    ///   - error: The error of the first attempt.
    ///   - interruption: Ends the repetitions.
    ///   - repeatsAfterLoss: Whether the loss of a connection permits it too, as a retryable error does.
    ///   - willRepeat: Called before each pause with the error and the number of the repetition; returns the pauses.
    ///   - attempt: Runs the transaction or the read again.
    /// - Throws: The error of the last attempt.
    package static func run<T>(
        _ limit: Int, after error: StoreError, within interruption: Interruption? = nil, repeatsAfterLoss: Bool = false,
        willRepeat: (StoreError, Int) -> BackOff, attempt: () throws -> T
    ) throws -> T {
        var (count, failure) = (0, error)
        while count < limit, failure.recovery == .retryable || repeatsAfterLoss && failure.recovery == .connectionLost {
            count += 1
            try interruption?.checkRepetition(after: failure)
            willRepeat(failure, count).wait(before: count, atMost: interruption?.remaining)
            try interruption?.checkRepetition(after: failure)
            do { return try attempt() } catch let error as StoreError { failure = error }
        }
        throw failure
    }

    /// Runs a transaction as the other method does, and suspends the task during the pauses instead of blocking the thread.
    /// - Parameter error: The error of the first attempt, if it was already made.
    /// - Throws: `cancelled` if the task is cancelled during a pause, `timedOut` if the time limit ends in one, and the errors of the transaction.
    package static func run<T>(
        _ limit: Int, after error: StoreError?, within interruption: Interruption? = nil, isolation: isolated (any Actor)? = #isolation,
        willRepeat: (StoreError, Int) -> BackOff, attempt: (Bool) async throws -> T
    ) async throws -> T {
        var (count, failure) = (0, error)
        while true {
            if let failure {
                count += 1
                try interruption?.checkRepetition(after: failure)
                let pause = willRepeat(failure, count).pause(before: count)
                if pause > .zero { try? await Task.sleep(for: min(pause, interruption?.remaining ?? pause)) }
                try interruption?.checkRepetition(after: failure)
                if Task.isCancelled { throw Interruption.cancelled }
            }
            do { return try await attempt(count > 0) } catch let error as StoreError where error.recovery == .retryable && count < limit {
                failure = error
            }
        }
    }
}

extension WriteTransaction {
    /// Commits, and requests the outcome from the store if the response is lost.
    /// - Throws: An error with the recovery `retryable` if the store knows that it did not commit, one with
    ///   `commitOutcomeUnknown` if it does not know, and the errors of the commit.
    package func commit(_ durability: Durability, backOff: @autoclosure () -> BackOff) throws -> UInt64 {
        do { return try commit(durability) } catch let error as StoreError where error.recovery == .commitOutcomeUnknown {
            return try version(of: error, backOff)
        }
    }

    /// Applies change sets and commits, and requests the outcome from the store if the response is lost. A commit means that every change set was applied.
    /// - Throws: As ``commit(_:backOff:)``, and the errors of applying.
    package func apply(
        _ sets: [ChangeSet], committing durability: Durability, backOff: @autoclosure () -> BackOff
    ) throws -> AppliedChangeSets {
        do {
            return try apply(sets, committing: durability).checked(sets.count)
        } catch let error as StoreError where error.recovery == .commitOutcomeUnknown {
            return AppliedChangeSets(errors: sets.map { _ in nil }, version: try version(of: error, backOff))
        }
    }

    /// Returns the version of a commit whose response was lost, if the store knows that it took effect.
    private func version(of failure: StoreError, _ backOff: () -> BackOff) throws -> UInt64 {
        var error = failure
        for number in 1...BackOff.limit {
            switch try? commitOutcome() {
            case .committed(let version)?:
                // Releases what the transaction holds.
                rollback()
                return version
            case .notCommitted?:
                error.recovery = .retryable
                throw error
            case .unknown?: throw error
            case nil: if number < BackOff.limit { backOff().wait(before: number) }
            }
        }
        throw error
    }
}
