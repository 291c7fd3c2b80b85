import PolyStoreBackend
import PolyStoreFormats

extension DataStack {
    /// Imports an object from each element of a sequence: inserts it, or, where the class is an ``ImportableUniqueObject``, updates the object that has its
    /// unique id.
    ///
    ///     try await stack.importRecords(Into<City>(), from: cities, options: ImportOptions(commit: .batches(of: 1000)))
    ///
    /// The sequence is read on a thread of the stack. When the call returns, the view shows the imported objects. If the calling task is cancelled, the run
    /// ends before its next element.
    ///
    /// A batch with bad records is imported again without them, so that the methods of the model can be called several times for one source.
    /// - Parameters:
    ///   - into: the class, and the configuration where several stores hold it.
    ///   - sources: the elements, in order.
    /// - Throws: `invalidValue` for an element that could not be imported, with its number, field and reason; `cancelled`; `storeNotFound`, `ambiguousStore`;
    ///   what the commit throws. The message says what is committed.
    @discardableResult
    public func importRecords<T: ImportableObject, S: Sequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ImportReport where S.Element == T.ImportSource {
        try await startImport(into, from: sources, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the elements of a sequence, and returns its handle; see ``importRecords(_:from:options:file:line:)``.
    public func startImport<T: ImportableObject, S: Sequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) -> ImportRun where S.Element == T.ImportSource {
        valuesStart(into, options, CallSite("import", file: file, line: line)).start {
            SequenceFeed(sources, position: positions(S.Element.self))
        }
    }

    /// Imports the elements of a sequence on the caller's thread; see ``importRecords(_:from:options:file:line:)``.
    /// - Throws: `misuse` inside the body of a transaction of this stack, and what the asynchronous form throws.
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
    /// The next element is awaited outside of any transaction: the write queue is free meanwhile.
    @discardableResult
    public func importRecords<T: ImportableObject, S: AsyncSequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ImportReport where S.Element == T.ImportSource, T.ImportSource: Sendable {
        try await startImport(into, from: sources, options: options, file: file, line: line).finished(core)
    }

    /// Starts an import of the elements of an asynchronous sequence, and returns its handle.
    public func startImport<T: ImportableObject, S: AsyncSequence & Sendable>(
        _ into: Into<T>, from sources: S, options: ImportOptions = ImportOptions(), file: StaticString = #fileID, line: UInt = #line
    ) -> ImportRun where S.Element == T.ImportSource, T.ImportSource: Sendable {
        valuesStart(into, options, CallSite("import", file: file, line: line)).start(sources, position: positions(S.Element.self))
    }

    private func valuesStart<T: ImportableObject>(_ into: Into<T>, _ options: ImportOptions, _ site: CallSite) -> ImportStart<T> {
        ImportStart(self, into, options, site, sourceName: nil, format: "values of \(T.ImportSource.self)")
    }
}

/// Returns what finds the position that an element has in a source of its own; nil for elements that have none.
private func positions<Source>(_ type: Source.Type) -> (@Sendable (Source) -> RecordPosition?)? {
    guard Source.self == SourceRecord.self else { return nil }
    return { (source: Source) -> RecordPosition? in (source as? SourceRecord)?.position }
}
