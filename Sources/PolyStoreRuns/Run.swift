public import Foundation
import PolyStoreBackend

/// A running or finished import, export, migration, verification or copy.
///
///     let run = stack.startImport(Into<City>(), from: .file(path: "cities.jsonl"))
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
///
/// The run continues if the handle is released.
public final class Run<Update: RunProgress, Value: Sendable>: Sendable {
    /// Informs the thread that executes the run of its cancellation.
    package let cancellation: Interruption
    /// The report of the run, even if it failed; set before its end.
    package let reported = Protected<(any Sendable)?>(nil)
    private let described: DescribedProgress
    private let latest: LatestValue<Update>
    private let outcome = Outcome<Value>()
    /// Called when the run is cancelled, in addition to setting the flag.
    private let onCancel: Protected<(@Sendable () -> Void)?>

    package init(_ description: String, _ first: Update) {
        let (cancellation, onCancel) = (Interruption(), Protected<(@Sendable () -> Void)?>(nil))
        self.cancellation = cancellation
        self.onCancel = onCancel
        latest = LatestValue(first)
        described = DescribedProgress(description) {
            cancellation.cancel()
            onCancel.withLock { $0 }?()
        }
        // Indeterminate progress.
        described.totalUnitCount = -1
    }

    // MARK: The handle

    /// The progress of the run for a user interface. It has descriptions and is updated at most ten times a second. Cancelling it cancels the run.
    public var progress: Progress { described }

    /// The current progress and each later one, until the run ends. A slow consumer receives only the latest value.
    public var updates: some AsyncSequence<Update, Never> { latest.values }

    /// The result of the run; waits until the run has ended.
    /// - Throws: The error that ended the run, `cancelled` among others.
    public var value: Value { get async throws { try await outcome.value } }

    /// Cancels the run soon. An import keeps the batches that it has committed. A migration leaves the store in the state before its current step. A partly
    /// written file or copy is removed. A copy of an LMDB store is not interrupted once it has begun.
    public func cancel() {
        cancellation.cancel()
        onCancel.withLock { $0 }?()
    }

    // MARK: The thread that executes the run

    /// Sets an action for cancellation in addition to setting the flag. Runs it immediately if the run is already cancelled.
    package func setCancellation(_ action: @escaping @Sendable () -> Void) {
        onCancel.withLock { $0 = action }
        if cancellation.isCancelled { action() }
    }

    package func update(_ now: Update) {
        show(now)
        latest.set(now)
    }

    private func show(_ now: Update) {
        described.localizedAdditionalDescription = now.description
        guard let fraction = now.fractionCompleted else { return }
        described.totalUnitCount = Self.units
        described.completedUnitCount = Int64(fraction * Double(Self.units))
    }

    /// The progress is counted in thousandths of the work.
    private static var units: Int64 { 1000 }

    /// Ends the run.
    package func finish(_ result: Result<Value, any Error>, last: Update) {
        show(last)
        if case .success = result {
            described.totalUnitCount = Self.units
            described.completedUnitCount = Self.units
        }
        latest.finish(last)
        outcome.set(result)
        onCancel.withLock { $0 = nil }
    }
}
