/// The bytes and the position of a reader, shared with the parser of its format.
final class RecordInput {
    let buffer: InputBuffer
    let name: String?
    let longestRecord: Int
    /// The number of the current record.
    var record = 0
    /// The number of the first unconsumed byte's line.
    var line = 1
    /// A Boolean value that indicates whether the last consumed byte was a CR, which forms one line break with a following LF.
    private var endsWithCR = false
    /// The position of the current record.
    var position: RecordPosition?

    init(_ source: any ByteSource, name: String?, longestRecord: Int) {
        buffer = InputBuffer(source)
        self.name = name
        self.longestRecord = longestRecord
    }

    /// Consumes bytes and counts their line breaks: LF, CR LF and CR.
    func consume(_ count: Int) {
        let bytes = UnsafeBufferPointer(start: buffer.bytes, count: count)
        if !endsWithCR, ByteScan.first(0x0d, bytes.baseAddress.unsafelyUnwrapped, 0, count) == count {
            var lines = 0
            for byte in bytes { lines &+= byte == 0x0a ? 1 : 0 }
            line += lines
        } else {
            for byte in bytes {
                if byte == 0x0d || (byte == 0x0a && !endsWithCR) { line += 1 }
                endsWithCR = byte == 0x0d
            }
        }
        buffer.consume(count)
    }

    /// Sets the position of the record that begins at the first unconsumed byte. What precedes the first record belongs to it.
    func begin(count: Int) {
        position = RecordPosition(source: name, record: max(1, record), line: line, byteOffset: buffer.offset, byteCount: Int64(count))
    }

    /// Returns an error at an offset from the first unconsumed byte.
    func error(_ code: RecordError.Code, _ reason: String, at offset: Int, isRecoverable: Bool = true) -> RecordError {
        RecordError(
            code, reason, position: position ?? here, byteOffset: buffer.offset + Int64(offset), isRecoverable: isRecoverable)
    }

    /// The position outside of a record: that of the record before it or, before the first record, of that one.
    var here: RecordPosition {
        RecordPosition(source: name, record: max(1, record), line: line, byteOffset: buffer.offset, byteCount: 0)
    }

    /// Skips a byte order mark, and rejects bytes that look like UTF-16 or gzip.
    func prepare() throws {
        try buffer.require(3)
        let first = Array(buffer.buffer.prefix(3))
        if first == [0xef, 0xbb, 0xbf] {
            buffer.consume(3)
        } else if first.starts(with: [0xff, 0xfe]) || first.starts(with: [0xfe, 0xff]) {
            throw error(
                .encoding, "The bytes begin with the byte order mark of UTF-16. Convert them to UTF-8.", at: 0, isRecoverable: false)
        } else if first.starts(with: [0x1f, 0x8b]) {
            throw error(
                .compression, "The bytes are compressed with gzip. Import PolyStoreGzip and read them with RecordSource.gzip.", at: 0,
                isRecoverable: false)
        }
    }
}

/// A parser for the records of one format.
protocol RecordParsing: AnyObject {
    /// Reads up to the first record: the header, or the document before the array.
    func prepare() throws
    /// Returns the next record and sets the position of the input; nil at the end.
    func next() throws -> JSONObject?
    /// Skips the next record without reading its values. Returns false at the end.
    func skip() throws -> Bool
    /// Continues with the record that begins at an offset.
    func restart(at offset: Int64) throws -> Bool
}
