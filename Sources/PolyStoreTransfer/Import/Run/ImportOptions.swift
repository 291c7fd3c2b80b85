import PolyStoreBackend
import PolyStoreKernel

/// The options of an import run: how it commits, and how it handles records that cannot be imported.
///
///     var options = ImportOptions()
///     options.commit = .batches(of: 1000, resume: "cities")
///     options.onInvalidRecord = .exclude(upTo: 100)
///     let report = try await stack.importRecords(Into<City>(), from: .file(path: "cities.jsonl"), options: options)
public struct ImportOptions: Sendable {
    /// The transactions in which imported objects are committed.
    public enum Commit: Sendable, Hashable {
        /// One transaction for the whole source. The sources and their objects are in memory until the commit.
        case once
        /// One queued transaction per `size` records. Memory use does not grow with the source. Committed batches are kept if the run fails or is cancelled.
        ///
        /// With a `resume` name, the position in the source is committed with each batch. A later run with the same name and source continues
        /// after the last committed record, so that each record is imported exactly once, regardless of how the earlier run ended.
        ///
        /// References are resolved at the end of each batch. One whose target is a record of a later batch fails under ``MissingReference/fail``, the default:
        /// import the targets first, or use ``MissingReference/createStub``.
        case batches(of: Int, resume: String? = nil)
    }

    /// The default is ``Commit/once``.
    public var commit: Commit = .once
    /// The policy for invalid records, which cannot be imported. The default is ``InvalidRecordPolicy/stop``.
    public var onInvalidRecord: InvalidRecordPolicy = .stop
    /// A Boolean value that indicates whether the run validates everything and reports the outcome, but commits nothing. A dry run is one transaction
    /// regardless of ``commit`` and neither uses nor changes a resume position.
    public var isDryRun = false
    /// A Boolean value that indicates whether the run ignores the position of an earlier run with the same resume name and starts with the first record.
    public var startsOver = false
    /// A Boolean value that indicates whether to return the report of a completed earlier run with the same resume name and source instead of importing the
    /// source again. Set it in a process that can be killed before it records the end of an import, so that each record is imported once.
    public var skipsCompleted = false
    /// The durability of the commits; `nil` uses the setting of the store.
    public var durability: Durability?
    /// A value that is passed to observers of the commits; see ``PolyStoreCore/Commit/sourceIdentifier``.
    public var sourceIdentifier: (any Hashable & Sendable)?
    /// The maximum number of problems, and of examples of each outcome of a dry run, that the report contains. All are counted.
    public var exampleLimit = 100

    /// Creates options.
    public init(
        commit: Commit = .once, onInvalidRecord: InvalidRecordPolicy = .stop, isDryRun: Bool = false, startsOver: Bool = false,
        skipsCompleted: Bool = false, durability: Durability? = nil, sourceIdentifier: (any Hashable & Sendable)? = nil,
        exampleLimit: Int = 100
    ) {
        self.commit = commit
        self.onInvalidRecord = onInvalidRecord
        self.isDryRun = isDryRun
        self.startsOver = startsOver
        self.skipsCompleted = skipsCompleted
        self.durability = durability
        self.sourceIdentifier = sourceIdentifier
        self.exampleLimit = exampleLimit
    }

    /// The name under which positions are committed; `nil` if positions are not committed.
    var resumeName: String? {
        guard !isDryRun, case .batches(_, let name) = commit else { return nil }
        return name
    }

    /// The number of records per transaction; `nil` for all.
    var batchSize: Int? {
        guard !isDryRun, case .batches(let size, _) = commit else { return nil }
        return size
    }

    /// - Throws: `misuse` for a batch size below 1, and for an empty resume name.
    func check() throws {
        if case .batches(let size, let name) = commit {
            guard size > 0 else { throw StoreError(.misuse, "An import cannot commit batches of \(size) records; the smallest size is 1.") }
            if name?.isEmpty == true {
                throw StoreError(.misuse, "The resume name of an import is empty; name the import, or leave the name out.")
            }
        }
        guard exampleLimit >= 0 else { throw StoreError(.misuse, "An import cannot keep \(exampleLimit) examples; the least is 0.") }
    }
}

/// The policy of an import run for invalid records: those that cannot be imported, because reading them, a method of the model or a rule throws an error.
///
/// An invalid record is different from one that the model skips, for which `shouldInsert` or `shouldUpdate` returns false; see ``ImportReport/skipped``.
public enum InvalidRecordPolicy: Sendable {
    /// Ends the run with an error that identifies the first invalid record. The batch of the record is not committed.
    case stop
    /// Excludes the record and imports the rest of its batch. ``ImportReport/excluded`` counts it, and ``ImportReport/problems`` has the reason. After `upTo`
    /// excluded records, the next invalid one ends the run with an error.
    case exclude(upTo: Int = .max)
    /// Calls a closure for each invalid record. It runs on the thread of the import and must not begin a transaction of the stack.
    case ask(@Sendable (ImportProblem) -> ImportDecision)

    /// The number of invalid records that a run may exclude; `nil` if a closure decides.
    var limit: Int? {
        switch self {
        case .stop: 0
        case .exclude(let limit): max(0, limit)
        case .ask: nil
        }
    }
}

/// The result of a ``InvalidRecordPolicy/ask(_:)`` closure.
public enum ImportDecision: Sendable, Hashable {
    /// Excludes the record and imports the rest of its batch.
    case exclude
    /// Ends the run with an error that identifies the record.
    case stop
}
