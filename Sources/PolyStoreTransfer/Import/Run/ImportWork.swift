import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The execution of one import run: reads records, commits them in batches and counts them.
final class ImportWork<T: ImportableObject>: @unchecked Sendable {  // used by one thread at a time; an asynchronous source transfers it
    let core: StackCore
    let into: Into<T>
    let options: ImportOptions
    let run: ImportRun
    let resume: ImportResume?
    private let site: CallSite
    private let sourceName: String?
    private let caller: WaitingCaller
    private let observer: (any ImportRunObserver)?
    private let batch = ImportBatch<T.ImportSource>()
    private(set) var report: ImportReport
    private var clock = RunClock()
    /// The number of records that an earlier run committed.
    private var recordsBefore = 0
    /// The size of the source in bytes; `nil` if it is unknown.
    var totalBytes: Int64?
    /// The position of the last committed record.
    private var committed = ImportRecordPosition()
    /// Returns the last record that was read, for the position of a resumable import.
    var mark: () -> ImportMark = { ImportMark() }
    /// A Boolean value that indicates whether the run knows what earlier runs have committed.
    private var knowsPosition = false
    /// A Boolean value that indicates whether the last batch had invalid records, which makes them likely in the next one.
    private var expectsProblems = false

    init(
        _ core: StackCore, _ into: Into<T>, _ entityName: String, _ sourceName: String?, _ options: ImportOptions, _ resume: ImportResume?,
        _ run: ImportRun,
        _ site: CallSite, _ caller: WaitingCaller, _ observer: (any ImportRunObserver)?
    ) {
        self.observer = observer
        self.core = core
        self.into = into
        self.options = options
        self.run = run
        self.resume = resume
        self.site = site
        self.sourceName = sourceName
        self.caller = caller
        report = ImportReport(entity: entityName, source: sourceName)
        report.isDryRun = options.isDryRun
    }

    // MARK: Records

    /// Determines where the run begins.
    /// - Returns: The last record that an earlier run committed; `nil` to begin with the first record.
    func begin() throws -> ImportMark? {
        try checkCancellation()
        guard let (position, problems) = try resume?.begin(core, site, caller, options) else {
            knowsPosition = true
            return nil
        }
        knowsPosition = true
        report.continueFrom(position, problems, options)
        committed = position.mark.recordPosition
        mark = { position.mark }
        recordsBefore = committed.record
        report.isComplete = position.isComplete
        return position.mark
    }

    /// Returns the error for a source that differs from that of the earlier run.
    func error(_ changed: ImportSourceChanged) -> any Error {
        // The run cannot continue after the committed records.
        knowsPosition = false
        return resume?.error(changed) ?? changed
    }

    var isFull: Bool { options.batchSize.map { batch.count >= $0 } ?? false }

    func add(_ source: T.ImportSource, at recordPosition: ImportRecordPosition) throws {
        try checkCancellation()
        batch.add(source, at: recordPosition)
        if clock.isDue() { publish(ImportCounts(), readTo: recordPosition) }
    }

    /// Adds a record that could not be read.
    func add(_ problem: ImportProblem, at recordPosition: ImportRecordPosition) throws {
        try checkCancellation()
        if options.onInvalidRecord.limit == nil {
            // If the end of a record was not found, the following records cannot be read.
            guard problem.isRecoverable else { throw problem }
            try decide(problem)
        }
        // If any number may be excluded, the invalid records before the unrecoverable one do not matter.
        if !problem.isRecoverable, options.onInvalidRecord.limit == .max { throw problem }
        batch.add(problem, at: recordPosition)
        if mustStop || !problem.isRecoverable { throw try firstExcess() }
    }

    private func checkCancellation() throws { try run.cancellation.check() }

    /// - Throws: The problem, if a closure decides to end the run.
    private func decide(_ problem: ImportProblem) throws {
        guard case .ask(let decide) = options.onInvalidRecord else { return }
        if decide(problem) == .stop { throw problem }
    }

    /// The number of records of the batch that may be excluded; `nil` if a closure decides.
    private var limit: Int? { options.onInvalidRecord.limit.map { max(0, $0 - report.excluded) } }

    /// A Boolean value that indicates whether the batch has more invalid records than may be excluded.
    private var mustStop: Bool { limit.map { batch.problems.count > $0 } ?? false }

    /// Imports the batch without committing it, to find all of its invalid records.
    /// - Returns: The first invalid record that may not be excluded.
    private func firstExcess() throws -> ImportProblem {
        do {
            while try attempt(isCareful: true, isLast: false, isRehearsal: true) == nil {}
        } catch {
            // An error of the batch as a whole, which may be a consequence of the known invalid records.
            guard isRecordError(error) else { throw error }
        }
        let problems = batch.problemsInOrder
        return problems[min(limit ?? 0, problems.count - 1)]
    }

    // MARK: Batches

    /// Commits the records that were added since the last commit.
    /// - Parameter isLast: A Boolean value that indicates whether the source has ended.
    func commit(isLast: Bool) throws {
        try checkCancellation()
        if !batch.isEmpty || isLast && resume != nil { try commitBatch(isLast) }
        if isLast { report.isComplete = true }
        if clock.isDueNow() { publish(ImportCounts(), readTo: batch.last) }
    }

    private func commitBatch(_ isLast: Bool) throws {
        var isCareful = expectsProblems
        while true {
            // Excluded records are not imported again, so the loop terminates.
            guard let counts = try attempt(isCareful: isCareful, isLast: isLast) else {
                if mustStop { throw try firstExcess() }
                isCareful = true
                continue
            }
            expectsProblems = !batch.problems.isEmpty
            report.add(counts, batch, options)
            committed = batch.last
            batch.removeAll()
            if !options.isDryRun { resume?.didCommit() }
            observer?.didCommitBatch()
            return
        }
    }

    /// - Parameter isRehearsal: A Boolean value that indicates whether the batch is only validated, because it has a record that ends the run.
    /// - Returns: `nil` if the batch must be imported again, carefully or without the records that are excluded now.
    private func attempt(isCareful: Bool, isLast: Bool, isRehearsal: Bool = false) throws -> ImportCounts? {
        var attempt: ImportAttempt<T>?
        do {
            var transactionOptions = TransactionOptions(
                durability: options.durability, sourceIdentifier: options.sourceIdentifier, interruption: run.cancellation, site: site)
            transactionOptions.isDryRun = options.isDryRun || isRehearsal
            try core.transactAndWait(transactionOptions, caller) { transaction in
                observer?.willImportBatch()
                let own = ImportAttempt<T>(
                    transaction, batch, isCareful: isCareful, problem: { try self.problem($0, $1) }, refuse: { try self.refuse($0, $1) },
                    tick: { if self.clock.isDue() { self.publish($0, readTo: self.batch.last) } })
                attempt = own
                try own.run(into, examples: options.isDryRun ? options.exampleLimit : 0)
                if let resume, !isRehearsal {
                    try resume.save(
                        in: transaction, report, own.counts, batch, mark(), report.newProblems(of: batch, options), isComplete: isLast)
                }
            }
        } catch is DryRunCompleted {
        } catch is ImportRetry {
            return nil
        } catch {
            // The transaction may not have begun. Only a careful attempt identifies the record of the error.
            guard isRecordError(error), let attempt else { throw error }
            guard isCareful else { return nil }
            try refuseOwners(of: error, attempt.owners)
            return nil
        }
        return attempt?.counts
    }

    private func refuse(_ index: Int, _ problem: ImportProblem) throws {
        try decide(problem)
        batch.refuse(index, problem)
    }

    /// Refuses the records whose objects caused the failure of the commit.
    private func refuseOwners(of error: any Error, _ owners: [RowReference: Int]) throws {
        guard let error = error as? StoreError else { throw error }
        var reasons: [Int: (field: String?, message: String)] = [:]
        for (entity, attribute, key, message) in error.blamed {
            guard let index = owner(entity, key, owners) else { continue }
            if let known = reasons[index] {
                reasons[index] = (nil, "\(known.message); \(message)")
            } else {
                reasons[index] = (attribute, message)
            }
        }
        guard !reasons.isEmpty else { throw error }
        for (index, reason) in reasons.sorted(by: { $0.key < $1.key }) {
            let text = reason.message.hasSuffix(".") ? reason.message : reason.message + "."
            try refuse(index, problem(at: index, reason.field, text, error.underlying))
        }
    }

    private func owner(_ entity: String, _ rowID: Int64, _ owners: [RowReference: Int]) -> Int? {
        let entries = core.table.withLock { $0.entries }
        return entries.lazy.filter { $0.entity.name == entity }.compactMap {
            owners[RowReference(entityIndex: $0.entityIndex, rowID: rowID)]
        }.first
    }

    // MARK: Problems

    func problem(at index: Int, _ field: String?, _ reason: String, _ underlying: String?) -> ImportProblem {
        ImportProblem(source: sourceName, batch.recordPositions[index], field: field, reason: reason, underlying: underlying)
    }

    /// - Throws: The error, if it is not specific to one record.
    private func problem(_ error: any Error, _ index: Int) throws -> ImportProblem {
        guard isRecordError(error) else { throw error }
        return ImportProblem(source: sourceName, batch.recordPositions[index], error)
    }

    // MARK: Progress

    /// - Parameters:
    ///   - counts: The effects of the current transaction.
    ///   - recordPosition: The last record that was read.
    private func publish(_ counts: ImportCounts, readTo recordPosition: ImportRecordPosition) {
        run.update(progress(counts, readTo: recordPosition))
    }

    private func progress(_ counts: ImportCounts, readTo recordPosition: ImportRecordPosition) -> ImportProgress {
        var now = ImportProgress()
        now.records = max(recordPosition.record, report.records)
        now.bytes = max(recordPosition.end, report.bytes)
        now.totalBytes = totalBytes
        now.inserted = report.inserted + counts.inserted
        now.updated = report.updated + counts.updated
        now.skipped = report.skipped + counts.skipped
        now.excluded = report.excluded + batch.problems.count
        now.batches = report.batches
        if let totalBytes, totalBytes > 0 {
            // Estimates half of the work as reading and half as writing, including the written part of the current batch.
            let share = Double(counts.inserted + counts.updated + counts.skipped) / Double(max(1, batch.count))
            let written = Double(committed.end) + Double(max(0, batch.last.end - committed.end)) * min(1, share)
            now.fractionCompleted = min(1, (Double(now.bytes) + written) / (2 * Double(totalBytes)))
        }
        now.recordsPerSecond = clock.rate(now.records - recordsBefore)
        now.timeLeft = clock.timeLeft(now.fractionCompleted)
        return now
    }

    // MARK: The end

    /// Ends the run.
    /// - Parameter failure: The error that ended the run.
    /// - Returns: The report, or the error for the caller.
    @discardableResult
    func finish(_ failure: (any Error)?) -> Result<ImportReport, any Error> {
        report.duration = clock.elapsed
        let result: Result<ImportReport, any Error> = failure.map { .failure(described($0)) } ?? .success(report)
        var last = progress(ImportCounts(), readTo: committed)
        last.isFinished = true
        last.timeLeft = nil
        if failure == nil, last.fractionCompleted != nil { last.fractionCompleted = 1 }
        run.reported.withLock { $0 = report }
        run.finish(result, last: last)
        return result
    }

    private func described(_ error: any Error) -> StoreError {
        if let problem = error as? ImportProblem { return problem.error(report.entity, outcome) }
        let outcome = resume == nil || knowsPosition ? " \(outcome)" : ""
        var described = StoreError(wrappingImport: error)
        if described.code == .cancelled {
            described.message = "The import of \(report.entity)\(sourceName.map { " from \($0)" } ?? "") was cancelled."
        } else if isRecordError(error), !batch.isEmpty, let first = batch.recordPositions.first {
            let name = sourceName.map { "\($0), " } ?? ""
            described.message = "\(name)records \(first.record) to \(batch.last.record): \(described.message)"
        }
        described.message += outcome
        return described
    }

    /// A sentence about what was committed and how to continue.
    private var outcome: String {
        guard report.batches > 0, !options.isDryRun else { return "Nothing was committed." }
        let text = "The records up to \(committed.record) are committed"
        guard let name = options.resumeName else { return text + "." }
        return text + "; importing again with the resume name \"\(name)\" continues after them."
    }
}
