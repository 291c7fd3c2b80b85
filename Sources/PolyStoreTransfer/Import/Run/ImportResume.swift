import PolyStoreBackend
import PolyStoreKernel

/// The committed position of a resumable import, read at the beginning of a run and written in the transaction of each batch.
final class ImportResume {
    private let name: String
    private let fingerprint: ImportPosition.Fingerprint
    /// The store that holds the imported objects.
    private let store: (Transaction) throws -> PersistentStore
    /// The last known value in the store.
    private var known: [UInt8]?
    /// The value that the current transaction writes.
    private var pending: [UInt8] = []
    /// The position where the run began; `nil` for the first record.
    private var start: ImportPosition?
    /// The committed problems, and those with the ones that the current transaction writes.
    private var problems = StoredImportProblems()
    private var pendingProblems = StoredImportProblems()
    /// The number of values with problems of an earlier run that this one does not continue.
    private var outdatedProblems = 0

    init<T: Model>(_ name: String, _ fingerprint: ImportPosition.Fingerprint, _ into: Into<T>) {
        self.name = name
        self.fingerprint = fingerprint
        store = { try $0.entry(for: into).store }
    }

    private var valueName: String { "\(NamedValue.reservedPrefix)import.\(name)" }

    /// Determines where the run begins.
    /// - Returns: `nil` to begin with the first record: there was no run with this name, it is completed, or the options require a restart. With
    ///   `skipsCompleted`, the position of a completed run over the same source. In both cases with the problems of that run.
    /// - Throws: `invalidValue` if the position belongs to another source; `corrupt` if it cannot be read.
    func begin(
        _ core: StackCore, _ site: CallSite, _ caller: WaitingCaller, _ options: ImportOptions
    ) throws -> (position: ImportPosition, problems: [ImportProblem])? {
        try core.transactAndWait(TransactionOptions(site: site), caller) { transaction in
            let store = try store(transaction)
            known = try transaction.storeValue(named: valueName, in: store)
            guard let known else { return nil }
            guard !options.startsOver else {
                outdatedProblems = (try? ImportPosition(stored: known, name))?.problemValues ?? 0
                return nil
            }
            let position = try ImportPosition(stored: known, name)
            guard !position.isComplete || options.skipsCompleted && position.fingerprint == fingerprint else {
                outdatedProblems = position.problemValues ?? 0
                return nil
            }
            if !position.isComplete { try position.check(fingerprint, name) }
            start = position
            let found = try problems.load(position.problemValues ?? 0) {
                try transaction.storeValue(named: StoredImportProblems.name($0, name), in: store)
            }
            return (position, found)
        }
    }

    /// Returns the error for a source that differs from that of the earlier run.
    func error(_ changed: ImportSourceChanged) -> any Error { start?.changed(name, changed.difference) ?? changed }

    /// Sets the position in the transaction of a batch.
    /// - Parameters:
    ///   - report: The committed counts and problems.
    ///   - mark: The last record of the batch.
    ///   - newProblems: The problems that the report will contain after the commit, beyond those that it contains.
    /// - Throws: `conflict` if another run with the same name has committed meanwhile.
    func save<Source>(
        in transaction: Transaction, _ report: ImportReport, _ counts: ImportCounts, _ batch: ImportBatch<Source>, _ mark: ImportMark,
        _ newProblems: some Sequence<ImportProblem>, isComplete: Bool
    ) throws {
        let store = try store(transaction)
        guard try transaction.storeValue(named: valueName, in: store) == known else {
            throw StoreError(
                .conflict,
                "Another run of the import \"\(name)\" has committed records meanwhile. Run one import of a name at a time.",
                location: store.location
            )
        }
        var position = ImportPosition(fingerprint)
        position.mark = mark
        position.inserted = report.inserted + counts.inserted
        position.updated = report.updated + counts.updated
        position.skipped = report.skipped + counts.skipped
        position.refused = report.excluded + batch.problems.count
        position.batches = report.batches + (batch.isEmpty ? 0 : 1)
        position.isComplete = isComplete
        pendingProblems = problems
        for (index, bytes) in try pendingProblems.append(newProblems) {
            try transaction.setStoreValue(bytes, named: StoredImportProblems.name(index, name), in: store)
        }
        if pendingProblems.count < outdatedProblems {
            for index in pendingProblems.count..<outdatedProblems {
                try transaction.setStoreValue(nil, named: StoredImportProblems.name(index, name), in: store)
            }
        }
        position.problemValues = pendingProblems.count
        pending = try position.stored()
        try transaction.setStoreValue(pending, named: valueName, in: store)
    }

    /// Called after the commit of the transaction.
    func didCommit() {
        known = pending
        problems = pendingProblems
        outdatedProblems = 0
    }
}
