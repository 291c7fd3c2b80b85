/// The kind of a posting: its statement about a document and a term.
enum PostingKind: UInt8 {
    /// The document has the term; older segments have no such posting.
    case added = 0
    /// The document has the term; older segments have other positions.
    case replaced = 1
    /// The document does not have the term any more.
    case deleted = 2

    /// The change of the number of documents with the term.
    @inline(__always)
    var delta: Int { self == .added ? 1 : self == .deleted ? -1 : 0 }
}

/// A posting in the form in which segments are written and merged.
///
/// `frequencies` are the numbers of occurrences: one varint in an index of one field; otherwise for each field with the term a varint of the number and a bit that indicates that
/// more follow, and the byte of the field. `positions` are varints, for each field the first position and the differences to the others.
struct Posting {
    var document: DocumentKey
    var kind: PostingKind
    /// The number of occurrences in all fields; 0 if deleted.
    var total: Int
    var frequencies: UnsafePointer<UInt8>
    var frequencyCount: Int
    var positions: UnsafePointer<UInt8>
    var positionCount: Int
}

/// A term at an address that does not change, in memory that the owner frees.
struct TermBuffer {
    let start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    /// The first eight bytes as a number in the order of terms.
    private(set) var prefix: UInt64 = 0

    init() { start = .allocate(capacity: PageKey.maximumTermLength + 8) }

    func deallocate() { start.deallocate() }

    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    @inline(__always)
    mutating func set(_ source: UnsafePointer<UInt8>, _ length: Int) { replace(from: 0, source, length) }

    mutating func set(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { set(base, $0.count) } else { clear() } }
    }

    mutating func clear() {
        count = 0
        prefix = 0
    }

    /// Replaces the bytes from an offset on.
    @inline(__always)
    mutating func replace(from offset: Int, _ source: UnsafePointer<UInt8>, _ length: Int) {
        var index = 0
        while index < length {
            start[offset + index] = source[index]
            index += 1
        }
        count = offset + length
        let rest = UnsafeMutableRawPointer(start + count)
        rest.storeBytes(of: 0, as: UInt64.self)
        prefix = UInt64(bigEndian: UnsafeRawPointer(start).loadUnaligned(as: UInt64.self))
    }

    /// Returns a negative number, 0 or a positive number as this term comes before another, equals it, or comes after it.
    @inline(__always)
    func compare(_ other: TermBuffer) -> Int {
        if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
        var index = 0
        let common = min(count, other.count)
        while index < common {
            if start[index] != other.start[index] { return start[index] < other.start[index] ? -1 : 1 }
            index += 1
        }
        return count - other.count
    }
}

/// The form of the numbers of occurrences in a posting.
enum Frequencies {
    /// Reads the numbers of occurrences of a posting, and returns their sum.
    @inline(__always)
    static func read(_ reader: inout ByteReader, fields: Int) throws -> Int {
        if fields == 1 {
            let count = try reader.varint()
            guard count > 0, count <= UInt64(UInt32.max) else { throw SearchIndexError.damaged("a posting has no occurrences") }
            return Int(count)
        }
        var sum = 0
        try forEach(&reader, fields: fields) { sum += $1 }
        return sum
    }

    /// Calls a closure with each field that has occurrences, ascending, and their number.
    @inline(__always)
    static func forEach(_ reader: inout ByteReader, fields: Int, _ body: (Int, Int) throws -> Void) throws {
        if fields == 1 { return try body(0, read(&reader, fields: 1)) }
        var previous = -1
        while true {
            let value = try reader.varint()
            let field = Int(try reader.byte())
            guard value >= 2, value >> 1 <= UInt64(UInt32.max), field > previous, field < fields else {
                throw SearchIndexError.damaged("a posting has occurrences in a field that does not exist")
            }
            previous = field
            try body(field, Int(value >> 1))
            if value & 1 == 0 { return }
        }
    }
}
