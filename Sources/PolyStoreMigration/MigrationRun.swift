public import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A running or finished opening of a store with its migration.
///
///     let run = stack.startAddingStore(.sqlite(file: "company.sqlite"), migrating: .chain)
///     for await progress in run.updates { print(progress) }
///     let store = try await run.value
///
/// The run continues if the handle is released.
public final class MigrationRun: Sendable {
    private let monitor: RunMonitor<MigrationProgress, PersistentStore>
    private let reported: Protected<MigrationReport?>

    init(_ monitor: RunMonitor<MigrationProgress, PersistentStore>, _ reported: Protected<MigrationReport?>) {
        self.monitor = monitor
        self.reported = reported
    }

    /// The progress of the run for a user interface. It has localized descriptions. Cancelling it cancels the run.
    public var progress: Progress { monitor.progress }

    /// The current progress and each later one, until the run ends. A slow consumer receives only the latest value.
    public var updates: some AsyncSequence<MigrationProgress, Never> { monitor.latest.values }

    /// The open store; waits until the run has ended.
    ///
    /// - Throws: The error that ended the run: `cancelled`, an error that prevents the migration, or an error of opening the store.
    public var value: PersistentStore { get async throws { try await monitor.outcome.value } }

    /// The report of the migration; `nil` until it has ended, and after an error.
    public var report: MigrationReport? { reported.withLock { $0 } }

    /// Cancels the migration. The store is in the state before the current step.
    public func cancel() { monitor.cancel() }
}

/// Publishes the progress of a migration and ends it after cancellation.
final class MigrationMonitor {
    private let run: RunMonitor<MigrationProgress, PersistentStore>
    private var now = MigrationProgress()
    private var clock = RunClock()
    /// The number of objects of the step that an interrupted attempt has migrated.
    private var resumedRows = 0

    init(_ run: RunMonitor<MigrationProgress, PersistentStore>) { self.run = run }

    /// Returns the last progress.
    /// - Parameter isComplete: Whether the migration has succeeded.
    func last(isComplete: Bool) -> MigrationProgress {
        var last = now
        last.isFinished = true
        if isComplete {
            last.fraction = 1
            last.timeLeft = nil
        }
        return last
    }

    func begin(step: Int, of count: Int, _ version: String) {
        now.step = step
        now.stepCount = count
        now.destinationVersion = version
        reset()
        show("opening")
    }

    private func reset() {
        now.rows = 0
        now.totalRows = 0
        resumedRows = 0
        clock = RunClock()
    }

    /// Begins the current step again with another plan, after its changes were undone.
    func beginAgain(_ plan: MigrationPlan, _ reader: any ReadTransaction) throws {
        reset()
        try countRows(plan, reader)
        publish()
    }

    func show(_ activity: String) {
        now.activity = activity
        publish()
    }

    /// Counts the objects that a step reads.
    func countRows(_ plan: MigrationPlan, _ reader: any ReadTransaction) throws {
        now.totalRows = try plan.routes.reduce(0) { try $0 + reader.count(FetchRequest($1.source)) }
    }

    /// Counts the objects that an interrupted attempt at the step has migrated.
    func didResume(_ count: Int) {
        resumedRows = count
        now.rows = count
        publish()
    }

    func checkCancellation() throws {
        if run.cancellation.isCancelled { throw StoreError(.cancelled, "The migration was cancelled; the store is unchanged.") }
    }

    func didRead(_ count: Int, _ activity: String) throws {
        now.rows += count
        now.activity = activity
        try checkCancellation()
        if clock.isDueNow() { publish() }
    }

    private func publish() {
        let part = now.totalRows > 0 ? min(1, Double(now.rows) / Double(now.totalRows)) : 0
        now.rowsPerSecond = clock.rate(now.rows - resumedRows)
        now.timeLeft = resumedRows == 0 ? clock.timeLeft(part) : clock.timeLeft(now.rows - resumedRows, of: now.totalRows - resumedRows)
        if now.stepCount > 0 { now.fraction = (Double(now.step - 1) + part) / Double(now.stepCount) }
        run.update(now)
    }
}
