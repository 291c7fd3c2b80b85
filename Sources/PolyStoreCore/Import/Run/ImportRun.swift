public import Foundation
import PolyStoreBackend

/// A started import.
///
///     let run = stack.startImport(Into<City>(), from: .file(path: "cities.jsonl"))
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
///
/// The run continues when the handle is released.
public final class ImportRun: Sendable {
    private let monitor: RunMonitor<ImportProgress, ImportReport>

    init(_ monitor: RunMonitor<ImportProgress, ImportReport>) { self.monitor = monitor }

    /// The progress of the run, for a user interface. It has descriptions, is updated at most ten times a second, and cancels the run when it is cancelled.
    public var progress: Progress { monitor.progress }

    /// The current progress and each later one, until the run ends. A reader that is slower than the run receives the latest.
    public var updates: some AsyncSequence<ImportProgress, Never> { monitor.latest.values }

    /// The report of the run, when it has ended.
    /// - Throws: the error that ended the run: `invalidValue` for a record that could not be imported; `cancelled`; what reading the source and committing throw.
    ///   ``report`` tells what was committed before.
    public var value: ImportReport { get async throws { try await monitor.outcome.value } }

    /// What the run has committed; nil until it has ended, with or without an error.
    public var report: ImportReport? { monitor.report.withLock { $0 } }

    /// Ends the run before its next record. Committed batches stay; what the current transaction has done is discarded.
    public func cancel() { monitor.cancel() }
}
