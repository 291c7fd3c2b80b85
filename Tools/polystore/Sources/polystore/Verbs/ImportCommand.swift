import ArgumentParser
import PolyStoreCore
import PolyStoreFormats

import struct PolyStoreBackend.StoreError

/// Objects created and updated from the records of a file.
struct ImportCommand: AsyncParsableCommand {
    /// The behavior for records that cannot be imported.
    enum OnInvalid: String, ExpressibleByArgument, CaseIterable {
        case stop, skip
    }

    /// The behavior for references to objects that do not exist.
    enum Missing: String, ExpressibleByArgument, CaseIterable {
        case fail, ignore, stub

        var policy: MissingReference {
            switch self {
            case .fail: .fail
            case .ignore: .ignore
            case .stub: .createStub
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Creates and updates objects from the records of a file.",
        discussion: """
            A record updates the object with its unique id, the attributes of the entity's first unique index, or creates one. A property without a field keeps its value. \
            Relationships are the unique ids of their targets, or row ids if they have none; _entity names the subentity of an object of a hierarchy. The rules of the schema \
            apply; those that only the classes of the program know are not checked, and --verbose lists them.

            A row id in a relationship is the field _id of another record of the file, before it or in the same transaction: export --ids writes it. With --store-row-ids it is one \
            of the store, as in a file that was exported from it and changed.

            All records are imported in one transaction, unless --batch divides them: then an import that fails or is interrupted keeps what it has committed. If the store has a history, the commits are recorded in it.

            EXAMPLES
              polystore import atlas.db Country countries.csv
              polystore import atlas.db City cities.jsonl.gz --batch 10000 --resume cities --on-invalid skip
              polystore import atlas.db Country changes.csv --field iso=code --dry-run
            """)

    @OptionGroup var source: StoreArgument
    @OptionGroup var target: EntityArgument
    @Argument(help: "The file; - for the input. A name that ends with .gz is compressed.", completion: .file())
    var file: String
    @Option(help: "The form of the records; by default that of the file's extension, and jsonl for the input.")
    var format: RecordFileFormat?
    @OptionGroup var fields: FieldNames
    @Flag(help: "Ignore fields that no property has.")
    var ignoreUnknown = false
    @Option(
        help:
            "What happens to a reference to an object that does not exist: the record is invalid, the reference is left out, or an object with only its unique id is created."
    )
    var missing = Missing.fail
    @Flag(help: "Row ids in relationships are those of the store, not those of other records of the file.")
    var storeRowIds = false
    @Option(
        help:
            "What happens to a record that cannot be imported: the import ends, or the record is reported and left out, and the exit code is 1."
    )
    var onInvalid = OnInvalid.stop
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Commit after this many records, so that the memory does not grow with the file.", valueName: "count"))
    var batch: Int?
    @Option(
        help: ArgumentHelp(
            "Keep the position under a name, and continue after the last commit of an import of this name.", valueName: "name"))
    var resume: String?
    @Flag(help: "Check every record, and change nothing.")
    var dryRun = false
    @Option(help: ArgumentHelp("The author of the commits in the history.", valueName: "name"))
    var author = "polystore import"

    func validate() throws {
        if let batch, batch < 1 { throw ValidationError("--batch is a number of records, not \(batch).") }
        if resume != nil, batch == nil {
            throw ValidationError("--resume needs --batch: an import in one transaction is done or not done.")
        }
    }

    func run() async throws {
        let opened = try await dryRun ? source.open(forWriting: true) : source.openForChanges()
        _ = try opened.entity(target.entity)
        var run = ImportOptions(isDryRun: dryRun, sourceIdentifier: author)
        if let batch { run.commit = .batches(of: batch, resume: resume) }
        if onInvalid == .skip { run.onInvalidRecord = .exclude() }
        let options = EntityImportOptions(
            run: run, names: try fields.names(), ignoresUnknownFields: ignoreUnknown, missingTargets: missing.policy,
            rowIDs: storeRowIds ? .ofStore : .ofRecords)
        let records = try RecordFile(path: file, format: format).source()
        let report = try await imported(opened, records, options)
        for problem in report.problems { StandardStreams.report("\(problem)") }
        if report.excluded > report.problems.count {
            StandardStreams.report("… and \((report.excluded - report.problems.count).grouped) more")
        }
        let what = "\(report.records.grouped) \(report.records == 1 ? "record" : "records") of \(target.entity)"
        let counts = "\(report.inserted.grouped) inserted, \(report.updated.grouped) updated, \(report.excluded.grouped) left out"
        let continued = report.resumedFrom.map { ", continuing after record \($0.grouped)" } ?? ""
        try StandardOutput.shared.write("\(dryRun ? "Would import" : "Imported") \(what)\(continued): \(counts).\n")
        if report.excluded > 0 {
            throw ToolError(
                .nothingFound, "\(report.excluded.grouped) \(report.excluded == 1 ? "record was" : "records were") left out.")
        }
    }

    private func imported(_ opened: OpenStore, _ records: RecordSource, _ options: EntityImportOptions) async throws -> ImportReport {
        do {
            return try await opened.stack.startImport(target.entity, from: records, options: options).following()
        } catch var error as StoreError {
            // The message of an invalid record contains it.
            error.underlying = nil
            throw error
        }
    }
}
