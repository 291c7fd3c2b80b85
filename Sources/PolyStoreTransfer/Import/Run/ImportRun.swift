public import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A running or finished import.
///
///     let run = stack.startImport(Into<City>(), from: .file(path: "cities.jsonl"))
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
///
/// The run continues if the handle is released.
public final class ImportRun: Sendable {
    private let monitor: RunMonitor<ImportProgress, ImportReport>

    init(_ monitor: RunMonitor<ImportProgress, ImportReport>) { self.monitor = monitor }

    /// The progress of the run for a user interface. It has descriptions and is updated at most ten times a second. Cancelling it cancels the run.
    public var progress: Progress { monitor.progress }

    /// The current progress and each later one, until the run ends. A slow consumer receives only the latest value.
    public var updates: some AsyncSequence<ImportProgress, Never> { monitor.latest.values }

    /// The report of the run; waits until the run has ended.
    /// - Throws: The error that ended the run: `invalidValue` for a record that could not be imported, `cancelled`, or an error of reading the source or
    ///   committing. ``report`` contains what was committed before.
    public var value: ImportReport { get async throws { try await monitor.outcome.value } }

    /// The report of what the run has committed, even if it failed; `nil` until it has ended.
    public var report: ImportReport? { monitor.report.withLock { $0 } }

    /// Cancels the run before its next record. Committed batches are kept; the changes of the current transaction are discarded.
    public func cancel() { monitor.cancel() }
}
