import Foundation

/// A writer of records. A reader of the same format returns equal records.
///
///     let writer = try RecordWriter(to: .file(path: "cities.csv"), format: .csv, columns: ["name", "population"])
///     try writer.write(["name": "Paris", "population": 2_102_650])
///     try writer.finish()
///
/// A file is created or replaced when ``finish()`` returns; a writer that is deallocated earlier leaves no file.
public final class RecordWriter {
    private let sink: any ByteSink
    private let encoder: any RecordEncoding
    private var buffer: [UInt8] = []
    private var isFinished = false
    /// The number of records written.
    public private(set) var count = 0

    static let bufferSize = 64 << 10

    /// Creates a writer.
    ///
    /// - Parameters:
    ///   - sink: The sink for the bytes.
    ///   - format: The format of the records.
    ///   - columns: The names of the CSV columns, in order. Other formats use the fields of each record.
    /// - Throws: ``RecordError`` if CSV has no columns, or if its options are inconsistent.
    public init(to sink: any ByteSink, format: RecordFormat, columns: [String] = []) throws {
        self.sink = sink
        switch format.kind {
        case .jsonLines: encoder = JSONLinesEncoder()
        case .json(let path): encoder = JSONArrayEncoder(path: path)
        case .csv(let options): encoder = try CSVEncoder(options, columns: columns)
        }
        encoder.begin(&buffer)
    }

    deinit { if !isFinished { sink.cancel() } }

    /// Writes a record.
    ///
    /// - Throws: ``RecordError`` if the format cannot represent the record. Nothing of it is written then, and further records can be written.
    public func write(_ record: JSONObject) throws {
        guard !isFinished else {
            throw RecordError(.unsupported, "The writer is finished and takes no more records.", isRecoverable: false)
        }
        let length = buffer.count
        do {
            try encoder.append(record, isFirst: count == 0, &buffer)
        } catch var error as RecordError {
            buffer.removeLast(buffer.count - length)
            error.position = RecordPosition(record: count + 1, line: count + 1, byteOffset: 0, byteCount: 0)
            throw error
        }
        count += 1
        if buffer.count >= Self.bufferSize { try flush() }
    }

    /// Writes the values of a dictionary as a record.
    public func write(_ record: [String: any ConvertibleToSource], options: OutputOptions = .default) throws {
        var object = JSONObject()
        for (name, value) in record.sorted(by: { $0.key < $1.key }) {
            do {
                object[name] = try value.sourceValue(options: options)
            } catch let error as RecordError {
                throw error.inField(name)
            }
        }
        try write(object)
    }

    private func flush() throws {
        try buffer.withUnsafeBytes { try sink.write($0) }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes the end of the document and completes the destination.
    public func finish() throws {
        guard !isFinished else { return }
        encoder.end(isEmpty: count == 0, &buffer)
        try flush()
        try sink.finish()
        isFinished = true
    }

    /// Discards the written records: a file is not created or replaced.
    public func cancel() {
        guard !isFinished else { return }
        isFinished = true
        sink.cancel()
    }
}

/// An encoder for the records of one format.
protocol RecordEncoding: AnyObject {
    func begin(_ bytes: inout [UInt8])
    func append(_ record: JSONObject, isFirst: Bool, _ bytes: inout [UInt8]) throws
    func end(isEmpty: Bool, _ bytes: inout [UInt8])
}
