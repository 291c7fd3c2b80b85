import PolyStoreBackend
public import PolyStoreKernel
public import PolyStoreRuns

/// A running or finished opening of a store with its migration.
///
///     let run = stack.startAddingStore(.sqlite(file: "company.sqlite"), migrating: .chain)
///     for await progress in run.updates { print(progress) }
///     let store = try await run.value
///
/// Its value is the open store. It throws the error that ended the run: `cancelled`, an error that prevents the migration, or an error of opening the store.
public typealias MigrationRun = Run<MigrationProgress, PersistentStore>

extension Run where Update == MigrationProgress {
    /// The report of the migration; `nil` until it has ended, and after an error.
    public var report: MigrationReport? { reported.withLock { $0 as? MigrationReport } }
}

/// Publishes the progress of a migration and ends it after cancellation.
final class MigrationMonitor {
    private let run: MigrationRun
    private var now = MigrationProgress()
    private var clock = RunClock()
    /// The number of objects of the step that an interrupted attempt has migrated.
    private var resumedRows = 0

    init(_ run: MigrationRun) { self.run = run }

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
