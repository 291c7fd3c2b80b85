import Foundation
import PolyStoreBackend

/// How far an import or an export has got.
protocol RunProgress: Sendable, CustomStringConvertible {
    /// The finished part of the work, from 0 to 1; nil where the amount of work is not known.
    var fractionCompleted: Double? { get }
}

/// What the handle of an import or an export and the thread that runs it share.
final class RunMonitor<Now: RunProgress, Report: Sendable>: Sendable {
    /// Cancels the run.
    let ticket: Ticket
    let progress: DescribedProgress
    let latest: LatestValue<Now>
    let outcome = Outcome<Report>()
    /// What an ended run has done, also where it failed.
    let report = Protected<Report?>(nil)
    /// Called when the run is cancelled, beside setting the ticket.
    private let onCancel: Protected<(@Sendable () -> Void)?>

    init(_ description: String, _ first: Now) {
        let (ticket, onCancel) = (Ticket(), Protected<(@Sendable () -> Void)?>(nil))
        self.ticket = ticket
        self.onCancel = onCancel
        latest = LatestValue(first)
        progress = DescribedProgress(description) {
            ticket.cancel()
            onCancel.withLock { $0 }?()
        }
        // Indeterminate.
        progress.totalUnitCount = -1
    }

    func cancel() {
        ticket.cancel()
        onCancel.withLock { $0 }?()
    }

    /// Sets what a cancellation does beside setting the ticket, and does it where the run is cancelled already.
    func setCancellation(_ action: @escaping @Sendable () -> Void) {
        onCancel.withLock { $0 = action }
        if ticket.isCancelled { action() }
    }

    func update(_ now: Now) {
        show(now)
        latest.set(now)
    }

    private func show(_ now: Now) {
        progress.localizedAdditionalDescription = now.description
        guard let fraction = now.fractionCompleted else { return }
        progress.totalUnitCount = Self.units
        progress.completedUnitCount = Int64(fraction * Double(Self.units))
    }

    /// The unit of the progress is a thousandth of the work.
    private static var units: Int64 { 1000 }

    func finish(_ result: Result<Report, any Error>, _ report: Report, _ last: Now) {
        self.report.withLock { $0 = report }
        show(last)
        if case .success = result {
            progress.totalUnitCount = Self.units
            progress.completedUnitCount = Self.units
        }
        latest.finish(last)
        outcome.set(result)
        onCancel.withLock { $0 = nil }
    }
}
