import PolyStoreBackend

/// How an import run commits, and what it does with records that cannot be imported.
///
///     var options = ImportOptions()
///     options.commit = .batches(of: 1000, resume: "cities")
///     options.onBadRecord = .skip(upTo: 100)
///     let report = try await stack.importRecords(Into<City>(), from: .file(path: "cities.jsonl"), options: options)
public struct ImportOptions: Sendable {
    /// When the imported objects are committed.
    public enum Commit: Sendable, Hashable {
        /// One transaction for the whole source: all of it or nothing. The sources and their objects are in memory until the commit.
        case once
        /// One queued transaction for each `size` records. Memory does not grow with the source. Committed batches stay when the run fails or is cancelled.
        ///
        /// With a `resume` name, the position in the source is committed with each batch. A later run with the same name over the same source continues
        /// after the last committed record, so that each record is imported exactly once, whatever ended the earlier run.
        ///
        /// References are resolved at the end of each batch. One whose target is a record of a later batch fails under ``MissingReference/fail``, the default:
        /// import the targets first, or use ``MissingReference/createStub``.
        case batches(of: Int, resume: String? = nil)
    }

    /// The default is ``Commit/once``.
    public var commit: Commit = .once
    /// What happens to a record that cannot be imported. The default is ``BadRecordPolicy/stop``.
    public var onBadRecord: BadRecordPolicy = .stop
    /// Imports and checks everything, reports what would happen, and commits nothing. The run is one transaction, whatever ``commit`` says, and neither uses nor
    /// changes a resume position.
    public var dryRun = false
    /// Ignores the position of an earlier run with the same resume name and starts with the first record.
    public var restart = false
    /// Returns the report of an earlier run with the same resume name and the same source if that run has completed, instead of importing the source again. A
    /// process that can be killed before it notes that an import has ended needs this to import each record once.
    public var skipsCompleted = false
    /// What the commits survive; nil uses the store's setting.
    public var durability: Durability?
    /// Identifies the author of the commits to observers; see ``Commit/sourceIdentifier``.
    public var source: (any Hashable & Sendable)?
    /// The number of problems, and of examples of each outcome of a dry run, that the report keeps. All are counted.
    public var exampleLimit = 100

    public init(
        commit: Commit = .once, onBadRecord: BadRecordPolicy = .stop, dryRun: Bool = false, restart: Bool = false,
        durability: Durability? = nil
    ) {
        self.commit = commit
        self.onBadRecord = onBadRecord
        self.dryRun = dryRun
        self.restart = restart
        self.durability = durability
    }

    /// The name under which positions are committed; nil: none are.
    var resumeName: String? {
        guard !dryRun, case .batches(_, let name) = commit else { return nil }
        return name
    }

    /// The number of records of a transaction; nil: all.
    var batchSize: Int? {
        guard !dryRun, case .batches(let size, _) = commit else { return nil }
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

/// What an import run does with a record that cannot be imported.
public enum BadRecordPolicy: Sendable {
    /// The run ends with an error that names the record. The batch of the record is not committed.
    case stop
    /// The record is left out and everything else of its batch is imported. The run ends with an error at the first bad record after `upTo` others.
    case skip(upTo: Int = .max)
    /// A closure decides for each bad record. It runs on the thread of the import and must not begin a transaction of the stack.
    case ask(@Sendable (ImportProblem) -> ImportDecision)

    /// A Boolean value that indicates whether every bad record ends the run.
    var alwaysStops: Bool { if case .stop = self { true } else { false } }
}

/// The answer of a ``BadRecordPolicy/ask(_:)`` closure.
public enum ImportDecision: Sendable, Hashable {
    /// Leaves the record out.
    case skip
    /// Ends the run with an error that names the record.
    case stop
}
