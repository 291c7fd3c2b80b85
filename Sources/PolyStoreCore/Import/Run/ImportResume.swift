import PolyStoreBackend

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

    init<T: Model>(_ name: String, _ fingerprint: ImportPosition.Fingerprint, _ into: Into<T>) {
        self.name = name
        self.fingerprint = fingerprint
        store = { try $0.entry(for: into).store }
    }

    private var valueName: String { "\(NamedValue.reservedPrefix)import.\(name)" }

    /// Determines where the run begins.
    /// - Returns: `nil` to begin with the first record: there was no run with this name, it is completed, or the options require a restart. With
    ///   `skipsCompleted`, the position of a completed run over the same source.
    /// - Throws: `invalidValue` if the position belongs to another source; `corrupt` if it cannot be read.
    func begin(_ core: StackCore, _ site: CallSite, isPatient: Bool, _ options: ImportOptions) throws -> ImportPosition? {
        known = try core.transactAndWait(TransactionOptions(site: site), isPatient: isPatient) {
            try $0.storeValue(named: valueName, in: store($0))
        }
        guard let known, !options.startsOver else { return nil }
        let position = try ImportPosition(stored: known, name)
        if position.isComplete { return options.skipsCompleted && position.fingerprint == fingerprint ? position : nil }
        try position.check(fingerprint, name)
        return position
    }

    /// Returns the error for a source that differs from that of the earlier run.
    func error(_ changed: ImportSourceChanged, _ record: Int) -> StoreError { ImportPosition.changed(name, record, changed.difference) }

    /// Sets the position in the transaction of a batch.
    /// - Parameters:
    ///   - report: The committed counts.
    ///   - mark: The last record of the batch.
    /// - Throws: `conflict` if another run with the same name has committed meanwhile.
    func save<Source>(
        in transaction: Transaction, _ report: ImportReport, _ counts: ImportCounts, _ batch: ImportBatch<Source>, _ mark: ImportMark,
        isComplete: Bool
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
        pending = try position.stored()
        try transaction.setStoreValue(pending, named: valueName, in: store)
    }

    /// Called after the commit of the transaction.
    func didCommit() { known = pending }
}
