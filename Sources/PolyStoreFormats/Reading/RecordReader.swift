/// A reader of the records of a source, in order. Calls may block while the source waits for bytes.
///
/// It uses memory for one record and one chunk of 256 KiB. A reader belongs to one task or thread at a time.
///
///     let reader = try RecordSource.file(path: "cities.csv").makeReader()
///     while let record = try reader.next() { … }
public final class RecordReader {
    private let input: RecordInput
    private let parser: any RecordParsing
    private let isUntyped: Bool
    private var isPrepared = false
    private var failure: (any Error)?

    /// Creates a reader of bytes.
    ///
    /// - Parameters:
    ///   - source: The bytes to read, from the beginning.
    ///   - format: The format of the bytes.
    ///   - name: The name of the source in positions and errors.
    /// - Throws: ``RecordError`` if the options of the format are inconsistent.
    public init(_ source: any ByteSource, format: RecordFormat, name: String? = nil) throws {
        input = RecordInput(source, name: name, longestRecord: format.longestRecord)
        switch format.kind {
        case .jsonLines:
            parser = JSONLinesParser(input)
            isUntyped = false
        case .json(let path):
            parser = JSONArrayParser(input, path: path)
            isUntyped = false
        case .csv(let options):
            try options.check()
            parser = CSVParser(input, options)
            isUntyped = true
        }
    }

    /// Returns the next record, or nil at the end.
    ///
    /// - Throws: ``RecordError`` with the position of the record. If the error is recoverable, the next call continues with the next record; otherwise it
    ///   throws the same error again.
    public func next() throws -> SourceRecord? {
        try attempt {
            guard let fields = try parser.next(), let position = input.position else { return nil }
            return SourceRecord(fields: fields, position: position, isUntyped: isUntyped)
        }
    }

    /// Skips records without reading their values, which is several times faster, and returns the number of skipped records, which is smaller only at the end.
    ///
    /// Records with errors count, but their errors may not be detected.
    @discardableResult
    public func skip(records count: Int) throws -> Int {
        try attempt {
            var skipped = 0
            while skipped < count, try parser.skip() { skipped += 1 }
            return skipped
        }
    }

    /// Continues after a record that an earlier reader of the same source returned, without reading the records before it.
    ///
    /// In a file, only the header is read before that position; for other sources, the bytes are read and discarded. Call it before ``next()``.
    ///
    /// - Throws: ``RecordError`` if the source ends before the record or was read beyond it.
    public func resume(after position: RecordPosition) throws {
        try attempt {
            guard try parser.restart(at: position.byteOffset) else {
                throw RecordError(
                    .inputOutput, "Cannot continue after byte \(position.byteOffset): the source has fewer bytes, or was read beyond it.",
                    position: position, isRecoverable: false)
            }
            input.line = position.line
            input.record = position.record - 1
            guard try parser.skip() else {
                throw RecordError(
                    .inputOutput, "Cannot continue after record \(position.record): the source has no record there.", position: position,
                    isRecoverable: false)
            }
        }
    }

    /// Called before a read from the source, which may block.
    var willFill: (() -> Void)? {
        get { input.buffer.willFill }
        set { input.buffer.willFill = newValue }
    }

    /// The position of the last record that ``next()`` returned or threw an error for, or that was skipped; nil before the first record.
    public var position: RecordPosition? { input.position }

    /// The number of bytes from the beginning of the source to the end of the last record.
    public var bytesRead: Int64 { input.buffer.offset }

    /// The number of bytes of the source, if it is known.
    public var totalBytes: Int64? { input.buffer.totalBytes }

    /// Prepares the parser once, and rethrows an unrecoverable error.
    private func attempt<T>(_ body: () throws -> T) throws -> T {
        if let failure { throw failure }
        do {
            if !isPrepared {
                isPrepared = true
                do {
                    try input.prepare()
                    try parser.prepare()
                } catch var error as RecordError {
                    // No record can be read without the header or the surrounding document.
                    error.isRecoverable = false
                    throw error
                }
            }
            return try body()
        } catch {
            // An error of the source itself has no position.
            let error = (error as? RecordError).map { $0.at($0.code == .inputOutput ? nil : input.position ?? input.here) } ?? error
            if (error as? RecordError)?.isRecoverable != true { failure = error }
            throw error
        }
    }
}
