/// The position of a record in its source.
///
/// An import stores the position of the last committed record, and ``RecordReader/resume(after:)`` continues after it.
public struct RecordPosition: Sendable, Hashable, Codable {
    /// The name of the file or source, if it has one.
    public var source: String?
    /// The number of the record, from 1. Records with errors count; the header, comments and blank lines do not. An error before the first record, such as
    /// one in the header, has the number 1.
    public var record: Int
    /// The number of the first line of the record, from 1.
    public var line: Int
    /// The offset of the record's first byte; for a compressed source, in the decompressed bytes.
    public var byteOffset: Int64
    /// The size of the record in bytes, without the separator after it.
    public var byteCount: Int64

    /// Creates a position.
    public init(source: String? = nil, record: Int, line: Int, byteOffset: Int64, byteCount: Int64) {
        self.source = source
        self.record = record
        self.line = line
        self.byteOffset = byteOffset
        self.byteCount = byteCount
    }
}

extension RecordPosition: CustomStringConvertible {
    /// A readable form such as `cities.csv, record 17 (line 20)`.
    public var description: String { (source.map { "\($0), " } ?? "") + "record \(record) (line \(line))" }
}
