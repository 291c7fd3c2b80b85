import PolyStoreBackend
import PolyStoreKernel

/// Ends an attempt to import a batch, which is then imported again to find its invalid records or without them.
struct ImportRetry: Error {}

/// One attempt to import a batch in a transaction.
///
/// A quick attempt ends at the first invalid record. A careful attempt undoes the changes of each invalid record, so that it finds all of them, and
/// records which objects each record changed, so that a constraint violation at commit can be attributed to a record. A careful attempt with invalid records
/// is discarded too, because their references may be pending.
final class ImportAttempt<T: ImportableObject> {
    private let transaction: Transaction
    private let batch: ImportBatch<T.ImportSource>
    private let refuse: (Int, ImportProblem) throws -> Void
    private let problem: (any Error, Int) throws -> ImportProblem
    private let tick: (ImportCounts) -> Void
    private let isCareful: Bool
    private var hasRefused = false
    private(set) var counts = ImportCounts()
    /// The index in the batch of the last record that changed an object.
    private(set) var owners: [RowReference: Int] = [:]

    /// - Parameters:
    ///   - problem: Creates a problem from an error at an index of the batch; throws the error if it is not specific to the record.
    ///   - refuse: Decides about an invalid record; throws to end the run.
    ///   - tick: Called after each record.
    init(
        _ transaction: Transaction, _ batch: ImportBatch<T.ImportSource>, isCareful: Bool,
        problem: @escaping (any Error, Int) throws -> ImportProblem, refuse: @escaping (Int, ImportProblem) throws -> Void,
        tick: @escaping (ImportCounts) -> Void
    ) {
        self.transaction = transaction
        self.batch = batch
        self.isCareful = isCareful
        self.problem = problem
        self.refuse = refuse
        self.tick = tick
    }

    /// - Parameter examples: The number of records of each effect to keep.
    /// - Throws: ``ImportRetry`` if the batch must be imported again.
    func run(_ into: Into<T>, examples: Int) throws {
        if isCareful { transaction.buffer.history = UndoHistory(transaction) }
        defer { transaction.buffer.history = nil }
        let importer = try T.sourceImporter(transaction, into)
        try transaction.importing.call {
            try importAll(importer, examples)
            // References are not resolved in this case because some may belong to invalid records.
            if hasRefused { throw ImportRetry() }
        }
        try transaction.resolveImports()
    }

    private func importAll<I: SourceImporter<T.ImportSource>>(_ importer: I, _ examples: Int) throws {
        for (index, source) in batch.sources.enumerated() where !batch.isRefused[index] {
            try guarded(index) { try importer.identify(index, source) }
        }
        try importer.lookUp()
        for (index, source) in batch.sources.enumerated() where !batch.isRefused[index] {
            try transaction.checkCancellation()
            try guarded(index) {
                let effect = try importer.importSource(index, source)
                // A missing target is a violation of the object even if the record changed nothing else.
                if isCareful, effect == .updated, let row = importer.importedRow { owners[row] = index }
                // Checked for each record, so that the result does not depend on the records of its batch.
                try transaction.importing.checkChangedIDs()
                counts.add(effect)
                if counts[effect] <= examples { counts.addExample(effect, batch.recordPositions[index], importer.uniqueID(index)) }
            }
            tick(counts)
        }
    }

    /// Imports a record atomically.
    private func guarded(_ index: Int, _ body: () throws -> Void) throws {
        guard isCareful, let history = transaction.buffer.history else {
            do { return try body() } catch {
                _ = try problem(error, index)
                throw ImportRetry()
            }
        }
        let whole = history.beginOperation()
        let links = transaction.buffer.relationshipChanges.changeCount
        do {
            try body()
            for object in history.release(whole) { owners[object] = index }
            for key in transaction.buffer.relationshipChanges.changedRelationships(since: links) { owners[key.owner] = index }
        } catch {
            let found = try problem(error, index)
            try history.revert(whole)
            transaction.importing.forgetUncheckedIDs()
            hasRefused = true
            try refuse(index, found)
        }
    }
}

/// The effects of the records of a batch.
struct ImportCounts {
    var inserted = 0
    var updated = 0
    var skipped = 0
    private(set) var examples: [(effect: ImportEffect, example: ImportReport.Example)] = []

    mutating func add(_ effect: ImportEffect) {
        switch effect {
        case .inserted: inserted += 1
        case .updated: updated += 1
        case .skipped: skipped += 1
        }
    }

    subscript(effect: ImportEffect) -> Int {
        switch effect {
        case .inserted: inserted
        case .updated: updated
        case .skipped: skipped
        }
    }

    mutating func addExample(_ effect: ImportEffect, _ recordPosition: ImportRecordPosition, _ uniqueID: String?) {
        examples.append(
            (
                effect,
                ImportReport.Example(
                    record: recordPosition.record, line: recordPosition.line == 0 ? nil : recordPosition.line, uniqueID: uniqueID)
            ))
    }
}
