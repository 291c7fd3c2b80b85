import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

extension DataStack {
    /// Imports an object from each element of a sequence: inserts it or, if the class is an ``ImportableUniqueObject``, updates the object with its
    /// unique id.
    ///
    ///     try await stack.importRecords(Into<City>(), from: cities, options: ImportOptions(commit: .batches(of: 1000)))
    ///
    /// The sequence is read on a thread of the stack. When the call returns, the view shows the imported objects. If the calling task is cancelled, the run
    /// ends before its next element.
    ///
    /// A batch with invalid elements is imported again without them, so the methods of the model can be called several times for one source.
    /// - Parameters:
    ///   - into: The class, and the configuration if several stores hold it.
    ///   - sources: The elements, in order.
    ///   - options: The size of a batch, the policy for bad records, and the other options of the import.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `invalidValue` for an element that could not be imported, with its number, field and reason; `cancelled`; `storeNotFound`, `ambiguousStore`;
    ///   errors of the commit. The message states what was committed.
    @discardableResult
    public func importRecords<T: ImportableObject, S: Sequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ImportReport where S.Element == T.ImportSource {
        try await startImport(into, from: sources, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the elements of a sequence and returns a handle for it; see `importRecords(_:from:options:file:line:)`.
    public func startImport<T: ImportableObject, S: Sequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) -> ImportRun where S.Element == T.ImportSource {
        valuesStart(into, options, CallSite("import", file: file, line: line)).start {
            SequenceFeed(sources, position: positions(S.Element.self))
        }
    }

    /// Imports the elements of a sequence, blocking the caller's thread; see `importRecords(_:from:options:file:line:)`.
    /// - Throws: `misuse` inside the body of a transaction of this stack, and the errors of the asynchronous form.
    @discardableResult
    public func importRecordsAndWait<T: ImportableObject, S: Sequence>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), isolation: isolated (any Actor)? = #isolation,
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ImportReport where S.Element == T.ImportSource {
        try valuesStart(into, options, CallSite("import", file: file, line: line))
            .runNow(isolation: isolation) { SequenceFeed(sources, position: positions(S.Element.self)) }
    }

    /// Imports an object from each element of an asynchronous sequence; see ``importRecords(_:from:options:file:line:)``.
    ///
    /// The import awaits the next element outside any transaction, so the write queue is free meanwhile.
    @discardableResult
    public func importRecords<T: ImportableObject, S: AsyncSequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ImportReport where S.Element == T.ImportSource, T.ImportSource: Sendable {
        try await startImport(into, from: sources, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the elements of an asynchronous sequence and returns a handle for it.
    public func startImport<T: ImportableObject, S: AsyncSequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) -> ImportRun where S.Element == T.ImportSource, T.ImportSource: Sendable {
        valuesStart(into, options, CallSite("import", file: file, line: line)).start(sources, position: positions(S.Element.self))
    }

    private func valuesStart<T: ImportableObject>(_ into: Into<T>, _ options: ImportOptions, _ site: CallSite) -> ImportStart<T> {
        ImportStart(self, into, options, site, sourceName: nil, format: "values of \(T.ImportSource.self)")
    }
}

/// Returns a function for the position of an element in its own source; `nil` for elements without a position.
private func positions<Source>(_ type: Source.Type) -> (@Sendable (Source) -> RecordPosition?)? {
    guard Source.self == SourceRecord.self else { return nil }
    return { (source: Source) -> RecordPosition? in (source as? SourceRecord)?.position }
}
