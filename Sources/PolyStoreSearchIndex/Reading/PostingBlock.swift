/// A block of postings of a term in a page: its bounds first, its documents and occurrences when they are needed.
struct PostingBlock {
    static let maximumCount = 4_096

    var count = 0
    var first: DocumentKey = 0
    var last: DocumentKey = 0
    /// The kind of all postings, or 3 if they differ.
    var kind: UInt8 = 0
    /// The documents after the first, the kinds, and the numbers of occurrences.
    var content: ByteReader
    /// The positions, if they are beside the postings.
    var positions: ByteReader?
    /// Where the positions are, if they have a page of their own.
    var positionPage: (number: Int, offset: Int)?
    /// The number of pairs of frequency and length that bound the scores.
    var impactCount = 0
    /// The pairs, if there are any.
    var impacts: ByteReader
    /// A Boolean value that indicates whether the pairs were read.
    var hasReadImpacts = false
    /// A bound of the scores of the block, once it was computed.
    var bound: Double?

    /// Reads a block.
    init(_ reader: inout ByteReader, base: DocumentKey) throws {
        count = try reader.count(atMost: Self.maximumCount)
        let flags = try reader.byte()
        let contentCount = try reader.count(atMost: reader.remaining)
        var positionCount = 0
        if flags & 4 != 0 {
            positionPage = (try reader.count(atMost: Int(UInt32.max)), try reader.count(atMost: .max))
        } else {
            positionCount = try reader.count(atMost: reader.remaining)
        }
        first = base &+ UInt64(bitPattern: try reader.signed())
        let span = try reader.varint()
        let (last, overflow) = first.addingReportingOverflow(span)
        guard count > 0, flags < 16, !overflow else { throw SearchIndexError.damaged("a block of postings has impossible bounds") }
        self.last = last
        kind = flags & 3
        content = reader
        impacts = reader
        if flags & 8 != 0 {
            impactCount = try reader.count(atMost: Impacts.maximum)
            impacts = reader
            try reader.skipVarints(2 * impactCount)
        }
        let start = try reader.take(contentCount)
        content = ByteReader(start, end: start + contentCount)
        if flags & 4 == 0 {
            let start = try reader.take(positionCount)
            positions = ByteReader(start, end: start + positionCount)
        }
    }

    /// Reads the short form of the only posting of a term.
    init(single reader: inout ByteReader, head: UInt8, base: DocumentKey, fields: Int) throws {
        count = 1
        kind = head >> 2
        first = base &+ UInt64(bitPattern: try reader.signed())
        last = first
        guard kind < 3 else { throw SearchIndexError.damaged("a posting has an unknown kind") }
        let start = reader.next
        impacts = reader
        guard kind != PostingKind.deleted.rawValue else {
            content = ByteReader(start, end: start)
            return
        }
        let total = try Frequencies.read(&reader, fields: fields)
        content = ByteReader(start, end: reader.next)
        let positionStart = reader.next
        try reader.skipVarints(total)
        positions = ByteReader(positionStart, end: reader.next)
    }
}
