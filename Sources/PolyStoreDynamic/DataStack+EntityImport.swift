import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel
import PolyStoreTransfer

/// The meaning of row ids in the relationships of records.
public enum RecordRowIDs: Sendable, Hashable {
    /// The values of the field `_id` of records of the same run: of records before it, and of all records of the same transaction.
    case ofRecords
    /// Row ids of the store that the records are imported into.
    case ofStore
}

/// The options of an import into an entity without a class.
public struct EntityImportOptions: Sendable {
    /// The size of a batch, the policy for invalid records, and the other options of the run.
    public var run: ImportOptions
    /// The names of fields in the records, by the names of their properties. A property that is not listed is read from the field with its name.
    public var names: [String: String]
    /// A Boolean value that indicates whether fields that no property has are ignored. Otherwise their records are invalid.
    public var ignoresUnknownFields: Bool
    /// The behavior for a reference to an object that does not exist.
    public var missingTargets: MissingReference
    /// The formats of dates.
    public var dates: DateFormats
    /// The meaning of row ids in relationships. An export writes those of its store, and imported objects have new ones.
    public var rowIDs: RecordRowIDs

    /// Creates options.
    public init(
        run: ImportOptions = ImportOptions(), names: [String: String] = [:], ignoresUnknownFields: Bool = false,
        missingTargets: MissingReference = .fail, dates: DateFormats = .default, rowIDs: RecordRowIDs = .ofRecords
    ) {
        self.run = run
        self.names = names
        self.ignoresUnknownFields = ignoresUnknownFields
        self.missingTargets = missingTargets
        self.dates = dates
        self.rowIDs = rowIDs
    }
}

extension DataStack {
    /// Imports the records of a file or another source into an entity without a class.
    ///
    ///     let report = try await stack.importRecords("Person", from: .file(path: "people.csv"))
    ///
    /// A record updates the object with its unique id, the attributes of the first unique index of the entity without relationships, and inserts one if there is none; a
    /// record without a unique id inserts an object. A property without a field keeps its value or default. Values are those that an export writes: a relationship has the unique ids of
    /// its targets, or their row ids if they have none. In a hierarchy the field `_entity` names the subentity of an object; without it, the objects are of the given
    /// entity.
    ///
    /// A row id in a relationship is the field `_id` of another record, before it or in the same transaction, because imported objects have new row ids; see ``RecordRowIDs``. A row id
    /// that no record has makes the record invalid: one of another entity, of an earlier run, or of a record that was excluded. Otherwise the field `_id` is ignored.
    ///
    /// Everything else is as for objects with classes: batches, resumption, dry runs, invalid records with their lines; see
    /// `importRecords(_:from:options:)` with classes.
    /// - Parameters:
    ///   - entity: The name of an entity or subentity.
    ///   - source: A file, bytes or text in JSON Lines, JSON or CSV, possibly compressed.
    ///   - options: The options of the import.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `storeNotFound` for an unknown entity, `misuse` for options that the entity does not permit and for a subentity with a unique id that other subentities do not have, and the errors of an import of objects with classes.
    @discardableResult
    public func importRecords(
        _ entity: String, from source: RecordSource, options: EntityImportOptions = EntityImportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ImportReport {
        let (run, finish) = try starting(entity, source, options, CallSite("import", file: file, line: line))
        return try await finish(run)
    }

    /// Starts an import into an entity without a class and returns a handle for it; see ``importRecords(_:from:options:file:line:)-(String,_,_,_,_)``.
    public func startImport(
        _ entity: String, from source: RecordSource, options: EntityImportOptions = EntityImportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ImportRun { try starting(entity, source, options, CallSite("import", file: file, line: line)).run }

    /// Imports into an entity without a class, blocking the caller's thread; see ``importRecords(_:from:options:file:line:)-(String,_,_,_,_)``.
    @discardableResult
    public func importRecordsAndWait(
        _ entity: String, from source: RecordSource, options: EntityImportOptions = EntityImportOptions(),
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ImportReport {
        try entityImport(entity, source, options, CallSite("import", file: file, line: line)).runNow(WaitingCaller(isolation))
    }

    private func starting(
        _ entity: String, _ source: RecordSource, _ options: EntityImportOptions, _ site: CallSite
    ) throws -> (run: ImportRun, finish: @Sendable (ImportRun) async throws -> ImportReport) {
        let work = try entityImport(entity, source, options, site)
        return (work.start(), work.finish)
    }

    private func entityImport(
        _ name: String, _ source: RecordSource, _ options: EntityImportOptions, _ site: CallSite
    ) throws -> EntityImport {
        let entry = try entry(named: name)
        let plan = try EntityImportPlan(name, entry, core.table.withLock { $0 }, options)
        guard let type = entry.type as? any ImportableEntity.Type else {
            throw StoreError(.misuse, "\(name) has a class.", entity: name)
        }
        func work<T: ImportableEntity>(_ type: T.Type) -> EntityImport {
            entityImport(
                Into<T>(entry.store.configurationName), named: name, from: source, options: options.run, site: site, observer: plan.rows,
                convert: { EntityRecord(record: $0, plan: plan) })
        }
        return work(type)
    }
}
