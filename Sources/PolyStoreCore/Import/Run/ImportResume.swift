import PolyStoreBackend

/// The committed position of a resumable import: read at the beginning of a run, and set in the transaction of each batch.
final class ImportResume {
    private let name: String
    private let fingerprint: ImportPosition.Fingerprint
    /// The store that holds the imported objects.
    private let store: (Transaction) throws -> PersistentStore
    /// What the store holds under the name, as far as this run knows.
    private var known: [UInt8]?
    /// What the transaction that is running sets.
    private var pending: [UInt8] = []

    init<T: Model>(_ name: String, _ fingerprint: ImportPosition.Fingerprint, _ into: Into<T>) {
        self.name = name
        self.fingerprint = fingerprint
        store = { try $0.entry(for: into).store }
    }

    private var valueName: String { "\(NamedValue.reservedPrefix)import.\(name)" }

    /// Finds out where the run begins.
    /// - Returns: nil to begin with the first record: there was no run of this name, or it has completed, or the options ask for it. With `skipsCompleted`, the
    ///   position of a completed run over the same source.
    /// - Throws: `invalidValue` where the position is one of another source; `corrupt` where it cannot be read.
    func begin(_ core: StackCore, _ site: CallSite, isPatient: Bool, _ options: ImportOptions) throws -> ImportPosition? {
        known = try core.transactAndWait(TransactionOrder(site: site), isPatient: isPatient) {
            try $0.storeValue(named: valueName, in: store($0))
        }
        guard let known, !options.restart else { return nil }
        let position = try ImportPosition(stored: known, name)
        if position.isComplete { return options.skipsCompleted && position.fingerprint == fingerprint ? position : nil }
        try position.check(fingerprint, name)
        return position
    }

    /// The error of a source that is not the one of the earlier run.
    func error(_ changed: ImportSourceChanged, _ record: Int) -> StoreError { ImportPosition.changed(name, record, changed.difference) }

    /// Sets the position in the transaction of a batch.
    /// - Parameters:
    ///   - report: what is committed so far.
    ///   - mark: the last record of the batch.
    /// - Throws: `conflict` where another run with the same name has committed meanwhile.
    func save<Source>(
        in transaction: Transaction, _ report: ImportReport, _ counts: ImportCounts, _ batch: ImportBatch<Source>, _ mark: ImportMark,
        isComplete: Bool
    ) throws {
        let store = try store(transaction)
        guard try transaction.storeValue(named: valueName, in: store) == known else {
            throw StoreError(
                .conflict,
                "Another run of the import \"\(name)\" has committed records meanwhile. Run one import of a name at a time.", url: store.url
            )
        }
        var position = ImportPosition(fingerprint)
        position.mark = mark
        position.inserted = report.inserted + counts.inserted
        position.updated = report.updated + counts.updated
        position.skipped = report.skipped + counts.skipped
        position.refused = report.refused + batch.problems.count
        position.batches = report.batches + (batch.isEmpty ? 0 : 1)
        position.isComplete = isComplete
        pending = try position.stored()
        try transaction.setStoreValue(pending, named: valueName, in: store)
    }

    /// Called when the transaction is committed.
    func didCommit() { known = pending }
}
