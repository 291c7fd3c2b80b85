/// What a posting says of a document and a term.
enum PostingKind: UInt8 {
    /// The document has the term, and older segments do not say so.
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
/// `frequencies` are the numbers of occurrences: one varint in an index of one field; otherwise for each field with the term a varint of the number and a bit that says that
/// more follow, and the byte of the field. `positions` are varints, for each field the first position and the differences to the others.
struct Posting {
    var document: DocumentKey
    var kind: PostingKind
    /// The number of occurrences in all fields; 0 if deleted.
    var total: Int
    var frequencies: UnsafeBufferPointer<UInt8>
    var positions: UnsafeBufferPointer<UInt8>
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
