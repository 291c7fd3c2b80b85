import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

extension DataStack {
    /// Imports the records of a file or another source.
    ///
    ///     let report = try await stack.importRecords(
    ///         Into<City>(), from: .file(path: "cities.jsonl"), options: ImportOptions(commit: .batches(of: 1000, resume: "cities")))
    ///     print(report)
    ///
    /// Each record inserts an object or, if the class is an ``ImportableUniqueObject``, updates the object with its unique id. The source is read on a
    /// thread of the stack, outside any transaction. When the call returns, the view shows the imported objects. If the calling task is cancelled, the run ends
    /// before its next record; committed batches are kept.
    ///
    /// A batch with invalid records is imported again without them, so the methods of the model can be called several times for one record.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - source: A file, bytes or text in JSON Lines, JSON or CSV.
    ///   - options: The size of a batch, the policy for bad records, and the other options of the import.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `invalidValue` for a record that could not be imported, with source, record number, line, field and reason; `io` if the source cannot be
    ///   read; `cancelled`; `storeNotFound`, `ambiguousStore`; errors of the commit. The message states what was committed.
    @discardableResult
    public func importRecords<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, options: ImportOptions = ImportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ImportReport where T.ImportSource == SourceRecord {
        try await startImport(into, from: source, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the records of a source and returns a handle for it; see `importRecords(_:from:options:file:line:)`.
    public func startImport<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, options: ImportOptions = ImportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) -> ImportRun where T.ImportSource == SourceRecord {
        recordStart(into, source, options, CallSite("import", file: file, line: line)).start { try RecordFeed(source) { $0 } }
    }

    /// Imports the records of a source, blocking the caller's thread; see `importRecords(_:from:options:file:line:)`.
    /// - Throws: `misuse` inside the body of a transaction of this stack, and the errors of the asynchronous form.
    @discardableResult
    public func importRecordsAndWait<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, options: ImportOptions = ImportOptions(), isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ImportReport where T.ImportSource == SourceRecord {
        try recordStart(into, source, options, CallSite("import", file: file, line: line))
            .runNow(isolation: isolation) { try RecordFeed(source) { $0 } }
    }

    // MARK: Decoded records

    /// Imports the records of a file or another source, each decoded as the class's `ImportSource`.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - source: A file, bytes or text in JSON Lines, JSON or CSV.
    ///   - dates: The formats of dates.
    ///   - options: The size of a batch, the policy for bad records, and the other options of the import.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    @discardableResult
    public func importRecords<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, dates: DateFormats = .default, options: ImportOptions = ImportOptions(),
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ImportReport where T.ImportSource: Decodable {
        try await startImport(into, from: source, dates: dates, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the decoded records of a source and returns a handle for it.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - source: A file, bytes or text in JSON Lines, JSON or CSV.
    ///   - dates: The formats of dates.
    ///   - options: The size of a batch, the policy for bad records, and the other options of the import.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    public func startImport<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, dates: DateFormats = .default, options: ImportOptions = ImportOptions(),
        file: StaticString = #fileID, line: UInt = #line
    ) -> ImportRun where T.ImportSource: Decodable {
        recordStart(into, source, options, CallSite("import", file: file, line: line))
            .start { try RecordFeed(source) { try $0.decode(T.ImportSource.self, dates: dates) } }
    }

    /// Imports the decoded records of a source, blocking the caller's thread.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - source: A file, bytes or text in JSON Lines, JSON or CSV.
    ///   - dates: The formats of dates.
    ///   - options: The size of a batch, the policy for bad records, and the other options of the import.
    ///   - isolation: The actor of the caller. Pass nothing.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    @discardableResult
    public func importRecordsAndWait<T: ImportableObject>(
        _ into: Into<T>, from source: RecordSource, dates: DateFormats = .default, options: ImportOptions = ImportOptions(),
        isolation: isolated (any Actor)? = #isolation, file: StaticString = #fileID, line: UInt = #line
    ) throws -> ImportReport where T.ImportSource: Decodable {
        try recordStart(into, source, options, CallSite("import", file: file, line: line))
            .runNow(isolation: isolation) { try RecordFeed(source) { try $0.decode(T.ImportSource.self, dates: dates) } }
    }

    // MARK: Objects without classes

    /// Returns an import of records that a closure converts.
    /// - Parameters:
    ///   - name: The name of the entity or subentity in reports and errors.
    ///   - observer: Is called as the run imports and commits its batches.
    package func entityImport<T: ImportableObject>(
        _ into: Into<T>, named name: String, from source: RecordSource, options: ImportOptions, site: CallSite,
        observer: (any ImportRunObserver)?, convert: @escaping @Sendable (SourceRecord) throws -> T.ImportSource
    ) -> EntityImport {
        let start = ImportStart(
            self, into, options, site, sourceName: source.name, format: source.format.map { "\($0)" } ?? "unknown", entityName: name,
            observer: observer)
        return EntityImport(
            start: { start.start { try RecordFeed(source, convert: convert) } },
            finish: { [core = start.core] in try await $0.finished(core) },
            runNow: { try start.runNow($0) { try RecordFeed(source, convert: convert) } })
    }

    private func recordStart<T: ImportableObject>(
        _ into: Into<T>, _ source: RecordSource, _ options: ImportOptions, _ site: CallSite
    ) -> ImportStart<T> {
        ImportStart(self, into, options, site, sourceName: source.name, format: source.format.map { "\($0)" } ?? "unknown")
    }
}

/// An observer of the batches of an import run, which is called on the thread that imports them.
package protocol ImportRunObserver: Sendable {
    /// Called before a batch is imported, for the first time or again after its changes were discarded.
    func willImportBatch()
    /// Called when a batch was committed.
    func didCommitBatch()
}

/// An import of an entity whose class is not known at compile time.
package struct EntityImport {
    /// Starts the import on a thread of the stack.
    package let start: () -> ImportRun
    /// Returns the report of the run when the views of the stack show the objects.
    package let finish: @Sendable (ImportRun) async throws -> ImportReport
    /// Imports on the caller's thread.
    package let runNow: (WaitingCaller) throws -> ImportReport
}
