import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The result of an import run: the outcomes of the records of its source.
///
/// The counts cover committed records or, in a dry run, those that would be committed. A resumed run counts from the beginning of the source, so that its
/// report equals that of an uninterrupted run.
public struct ImportReport: Sendable, Hashable, Codable {
    /// A record of a dry run.
    public struct Example: Sendable, Hashable, Codable {
        /// The number of the record in its source, from 1.
        public let record: Int
        /// The number of the record's first line, from 1; `nil` for a source without lines.
        public let line: Int?
        /// The unique id of the object; `nil` for objects without one.
        public let uniqueID: String?
    }

    /// The name of the imported entity.
    public let entity: String
    /// The name of the source; `nil` if it has none.
    public let source: String?
    /// The number of inserted objects.
    public internal(set) var inserted = 0
    /// The number of records that updated an existing object.
    public internal(set) var updated = 0
    /// The number of records that the model skipped: `shouldInsert` or `shouldUpdate` returned false, or there was no unique id.
    public internal(set) var skipped = 0
    /// The number of invalid records, which could not be imported and were excluded; see ``InvalidRecordPolicy``.
    public internal(set) var excluded = 0
    /// The first problems, at most ``ImportOptions/exampleLimit``.
    public internal(set) var problems: [ImportProblem] = []
    /// The number of records, including excluded ones.
    public internal(set) var records = 0
    /// The number of bytes of the source up to the end of the last record; 0 for a source of values.
    public internal(set) var bytes: Int64 = 0
    /// The number of committed transactions.
    public internal(set) var batches = 0
    /// The number of records that an earlier run committed; `nil` if the run began with the first record.
    public internal(set) var resumedFrom: Int?
    /// The duration of this run.
    public internal(set) var duration: Duration = .zero
    /// A Boolean value that indicates whether the run was a dry run, which commits nothing.
    public internal(set) var isDryRun = false
    /// A Boolean value that indicates whether the source was read completely.
    public internal(set) var isComplete = false

    /// For a dry run: the first records that would insert an object.
    public internal(set) var insertedExamples: [Example] = []
    /// For a dry run: the first records that would update an existing object.
    public internal(set) var updatedExamples: [Example] = []
    /// For a dry run: the first records that the model would skip.
    public internal(set) var skippedExamples: [Example] = []

    init(entity: String, source: String?) {
        self.entity = entity
        self.source = source
    }
}

extension ImportReport: CustomStringConvertible {
    /// `Imported 3 records of City from cities.jsonl in 0.2 s: 2 inserted, 1 updated, 0 skipped, 0 excluded.`, then a line for each problem.
    public var description: String {
        var text = isDryRun ? "Would import" : "Imported"
        text += " \(records) \(records == 1 ? "record" : "records") of \(entity)"
        if let source { text += " from \(source)" }
        text += " in \(duration.formattedSeconds) s"
        if let resumedFrom { text += ", continuing after record \(resumedFrom)" }
        if !isComplete { text += ", without reaching the end" }
        text += ": \(inserted) inserted, \(updated) updated, \(skipped) skipped, \(excluded) excluded."
        for problem in problems { text += "\n  \(problem)" }
        if excluded > problems.count { text += "\n  … and \(excluded - problems.count) more" }
        return text
    }
}
