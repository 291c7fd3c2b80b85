import Foundation
import PolyStoreBackend

/// The shared state of the handle of a run and the thread that executes it.
package final class RunMonitor<Now: RunProgress, Report: Sendable>: Sendable {
    /// Cancels the run.
    package let cancellation: CancellationToken
    package let progress: DescribedProgress
    package let latest: LatestValue<Now>
    package let outcome = Outcome<Report>()
    /// The report of an ended run, even if it failed.
    package let report = Protected<Report?>(nil)
    /// Called when the run is cancelled, in addition to setting the token.
    private let onCancel: Protected<(@Sendable () -> Void)?>

    package init(_ description: String, _ first: Now) {
        let (cancellation, onCancel) = (CancellationToken(), Protected<(@Sendable () -> Void)?>(nil))
        self.cancellation = cancellation
        self.onCancel = onCancel
        latest = LatestValue(first)
        progress = DescribedProgress(description) {
            cancellation.cancel()
            onCancel.withLock { $0 }?()
        }
        // Indeterminate progress.
        progress.totalUnitCount = -1
    }

    package func cancel() {
        cancellation.cancel()
        onCancel.withLock { $0 }?()
    }

    /// Sets an action for cancellation in addition to setting the token. Runs it immediately if the run is already cancelled.
    package func setCancellation(_ action: @escaping @Sendable () -> Void) {
        onCancel.withLock { $0 = action }
        if cancellation.isCancelled { action() }
    }

    package func update(_ now: Now) {
        show(now)
        latest.set(now)
    }

    private func show(_ now: Now) {
        progress.localizedAdditionalDescription = now.description
        guard let fraction = now.fractionCompleted else { return }
        progress.totalUnitCount = Self.units
        progress.completedUnitCount = Int64(fraction * Double(Self.units))
    }

    /// The progress is counted in thousandths of the work.
    private static var units: Int64 { 1000 }

    /// - Parameter report: The report of the run, even if it failed.
    package func finish(_ result: Result<Report, any Error>, _ report: Report, _ last: Now) {
        self.report.withLock { $0 = report }
        finish(result, last: last)
    }

    /// Ends a run whose result is its report.
    package func finish(_ result: Result<Report, any Error>, last: Now) {
        show(last)
        if case .success(let report) = result {
            self.report.withLock { $0 = report }
            progress.totalUnitCount = Self.units
            progress.completedUnitCount = Self.units
        }
        latest.finish(last)
        outcome.set(result)
        onCancel.withLock { $0 = nil }
    }
}
