/// The position of a record in its source.
///
/// An import stores the position of the last record that it committed, and ``RecordReader/resume(after:)`` continues there.
public struct RecordPosition: Sendable, Hashable, Codable {
    /// The name of the file or source, if it has one.
    public var source: String?
    /// The number of the record, starting at 1. Records with errors count; the header, comments and blank lines do not.
    public var record: Int
    /// The line where the record begins, starting at 1.
    public var line: Int
    /// The offset of the record's first byte. For a compressed source, in the decompressed bytes.
    public var byteOffset: Int64
    /// The length of the record in bytes, without the separator after it.
    public var byteCount: Int64

    public init(source: String? = nil, record: Int, line: Int, byteOffset: Int64, byteCount: Int64) {
        self.source = source
        self.record = record
        self.line = line
        self.byteOffset = byteOffset
        self.byteCount = byteCount
    }
}

extension RecordPosition: CustomStringConvertible {
    /// Such as `cities.csv, record 17 (line 20)`.
    public var description: String { (source.map { "\($0), " } ?? "") + "record \(record) (line \(line))" }
}
