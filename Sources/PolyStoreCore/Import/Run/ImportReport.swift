import PolyStoreBackend

/// The result of an import run: what became of the records of its source.
///
/// The counts cover what is committed; of a dry run, what would be. A run that continues an earlier one counts from the beginning of the source, so that the report
/// of a run that was interrupted and continued is that of one that was not.
public struct ImportReport: Sendable, Hashable {
    /// A record of a dry run.
    public struct Example: Sendable, Hashable {
        /// The number of the record in its source, from 1.
        public let record: Int
        /// The line in which it begins, from 1; nil for a source without lines.
        public let line: Int?
        /// The unique id of its object; nil for objects without one.
        public let uniqueID: String?
    }

    /// The name of the imported entity.
    public let entity: String
    /// The name of the source; nil where it has none.
    public let source: String?
    /// The number of objects that were created.
    public internal(set) var inserted = 0
    /// The number of records that changed an existing object.
    public internal(set) var updated = 0
    /// The number of records that the model left out: `shouldInsert` or `shouldUpdate` returned false, or there was no unique id.
    public internal(set) var skipped = 0
    /// The number of records that could not be imported and were left out.
    public internal(set) var refused = 0
    /// The first of them.
    public internal(set) var problems: [ImportProblem] = []
    /// The number of records, the refused ones included.
    public internal(set) var records = 0
    /// The number of bytes of the source up to the end of the last record; 0 for a source of values.
    public internal(set) var bytes: Int64 = 0
    /// The number of committed transactions.
    public internal(set) var batches = 0
    /// The number of records that an earlier run had committed; nil where the run began with the first record.
    public internal(set) var resumedFrom: Int?
    /// The time that this run took.
    public internal(set) var duration: Duration = .zero
    /// A Boolean value that indicates whether the run was a dry run: nothing is committed.
    public internal(set) var isDryRun = false
    /// A Boolean value that indicates whether the whole source was read.
    public internal(set) var isComplete = false

    /// Of a dry run: the first records that would create an object.
    public internal(set) var insertedExamples: [Example] = []
    /// Of a dry run: the first records that would change an existing object.
    public internal(set) var updatedExamples: [Example] = []
    /// Of a dry run: the first records that the model would leave out.
    public internal(set) var skippedExamples: [Example] = []

    init(entity: String, source: String?) {
        self.entity = entity
        self.source = source
    }
}

extension ImportReport: CustomStringConvertible {
    /// `Imported 3 records of City from cities.jsonl in 0.2 s: 2 inserted, 1 updated, 0 skipped, 0 refused.`, then a line for each problem.
    public var description: String {
        var text = isDryRun ? "Would import" : "Imported"
        text += " \(records) \(records == 1 ? "record" : "records") of \(entity)"
        if let source { text += " from \(source)" }
        text += " in \(duration.formattedSeconds) s"
        if let resumedFrom { text += ", continuing after record \(resumedFrom)" }
        if !isComplete { text += ", without reaching the end" }
        text += ": \(inserted) inserted, \(updated) updated, \(skipped) skipped, \(refused) refused."
        for problem in problems { text += "\n  \(problem)" }
        if refused > problems.count { text += "\n  … and \(refused - problems.count) more" }
        return text
    }
}
