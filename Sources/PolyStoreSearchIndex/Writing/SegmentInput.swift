/// Reads the postings of a segment from a position to the end, for a merge.
///
/// Kept in memory that the merge allocates, so that access needs no checks of exclusivity.
struct SegmentInput {
    private let source: PageSource
    let segment: UInt64
    private let fields: Int
    private let after: TermPosition?
    /// The current term.
    private(set) var term = TermBuffer()
    /// A Boolean value that indicates whether there are no more terms.
    private(set) var isAtEnd = false
    /// The keys of the pages that were read.
    private(set) var pagesRead: [[UInt8]] = []
    /// The number of bytes of the pages that were read.
    private(set) var bytesRead = 0
    /// The page of positions of the first block that was read and has one.
    private(set) var firstPositionPage: Int?

    private var page: TermPage?
    private var ahead: [TermPage] = []
    private var aheadNext = 0
    private var aheadLimit = 2
    /// The number of pages that were not read.
    private var pagesLeft: Int
    private var reader: ByteReader
    private var base: DocumentKey = 0
    private var endsHere = false
    private var blocksLeft = 0
    private var positionPage: (number: Int, bytes: PageBytes)?

    private var postings: UnsafeMutablePointer<Posting>
    private var capacity = 128
    private var count = 0
    private var index = 0

    init(_ source: PageSource, _ segment: UInt64, pages: Int, after: TermPosition?) {
        pagesLeft = pages
        self.source = source
        self.segment = segment
        self.after = after
        fields = source.fields
        postings = .allocate(capacity: capacity)
        reader = ByteReader(term.start, end: term.start)
    }

    /// Frees the memory of the term and the postings.
    func deallocate() {
        term.deallocate()
        postings.deallocate()
    }

    /// A Boolean value that indicates whether the current term has another posting.
    @inline(__always)
    var hasPosting: Bool { index < count }

    /// The current posting.
    @inline(__always)
    var posting: Posting { postings[index] }

    /// A Boolean value that indicates whether the current term, at its first posting, has no other.
    @inline(__always)
    var isSingle: Bool { count == 1 && endsHere && blocksLeft == 0 }

    /// Goes to the next posting of the term.
    @inline(__always)
    mutating func next() throws {
        index += 1
        if index == count { try fill() }
    }

    /// Goes to the first term after the position.
    mutating func start() throws {
        let key = after.map { PageKey.terms(segment, $0) } ?? PageKey.terms(segment)
        guard let first = try source.page(of: segment, atOrAfter: key) else {
            // An input that was merged to its end has no pages; it is removed with the others.
            isAtEnd = true
            return
        }
        try open(first)
        while !isAtEnd {
            try nextTerm()
            guard !isAtEnd, let after else { return }
            let name = term.bytes
            if after.term.precedes(name) { return }
            if after.term == name, let moved = after.document {
                while hasPosting, posting.document <= moved { try next() }
                return
            }
            while hasPosting { try next() }
        }
    }

    /// Goes to the first posting of the next term. The postings of the current one were read.
    mutating func nextTerm() throws {
        while reader.isAtEnd {
            guard try nextPage() else {
                isAtEnd = true
                return
            }
        }
        try readEntry()
    }

    private mutating func open(_ next: TermPage) throws {
        page = next
        pagesLeft -= 1
        bytesRead += next.bytes.count
        pagesRead.append(next.key)
        term.clear()
        reader = next.bytes.reader
        guard try reader.byte() == 1 else { throw SearchIndexError.damaged("a page of segment \(segment) has an unknown form") }
        base = UInt64(littleEndian: UnsafeRawPointer(try reader.take(8)).loadUnaligned(as: UInt64.self))
    }

    private mutating func nextPage() throws -> Bool {
        guard let page, pagesLeft > 0 else { return false }
        if aheadNext == ahead.count {
            ahead = try source.pages(of: segment, from: page.key + [0], limit: min(aheadLimit, pagesLeft))
            aheadNext = 0
            aheadLimit = min(aheadLimit * 2, 32)
        }
        guard aheadNext < ahead.count else { throw SearchIndexError.damaged("pages of segment \(segment) are missing") }
        aheadNext += 1
        try open(ahead[aheadNext - 1])
        return true
    }

    private mutating func readEntry() throws {
        let shared = try reader.count(atMost: term.count)
        let length = try reader.count(atMost: PageKey.maximumTermLength - shared)
        term.replace(from: shared, try reader.take(length), length)
        let head = try reader.byte()
        guard head < 16 else { throw SearchIndexError.damaged("an entry of segment \(segment) has an unknown form") }
        endsHere = head & 1 != 0
        index = 0
        count = 0
        if head & 2 != 0 {
            blocksLeft = 0
            return try readSingle(head >> 2)
        }
        if endsHere { _ = try reader.varint() }
        blocksLeft = try reader.count(atMost: reader.remaining)
        try fill()
    }

    @inline(__always)
    private mutating func readSingle(_ kind: UInt8) throws {
        let document = base &+ UInt64(bitPattern: try reader.signed())
        guard let kind = PostingKind(rawValue: kind) else { throw SearchIndexError.damaged("a posting has an unknown kind") }
        try readPosting(document, kind)
        postings[0].positions = reader.next
        try reader.skipVarints(postings[0].total)
        postings[0].positionCount = reader.next - postings[0].positions
        count = 1
    }

    /// Reads the numbers of occurrences of a posting, and adds it without its positions.
    @inline(__always)
    private mutating func readPosting(_ document: DocumentKey, _ kind: PostingKind) throws {
        let start = reader.next
        let total = kind == .deleted ? 0 : try Frequencies.read(&reader, fields: fields)
        (postings + count).initialize(
            to: Posting(
                document: document, kind: kind, total: total, frequencies: start, frequencyCount: reader.next - start, positions: start,
                positionCount: 0
            )
        )
    }

    /// Reads the next block of the term; without one the term has no more postings.
    private mutating func fill() throws {
        index = 0
        count = 0
        while blocksLeft == 0 {
            if endsHere { return }
            let expected = term.bytes
            guard try nextPage() else { throw SearchIndexError.damaged("segment \(segment) ends within a term") }
            let shared = try reader.varint()
            let length = try reader.count(atMost: PageKey.maximumTermLength)
            term.set(try reader.take(length), length)
            let head = try reader.byte()
            guard shared == 0, term.bytes == expected, head < 2 else {
                throw SearchIndexError.damaged("the end of a term is missing in segment \(segment)")
            }
            endsHere = head == 1
            if endsHere { _ = try reader.varint() }
            blocksLeft = try reader.count(atMost: reader.remaining)
        }
        blocksLeft -= 1
        try readBlock(PostingBlock(&reader, base: base))
    }

    private mutating func readBlock(_ block: PostingBlock) throws {
        if block.count > capacity {
            postings.deallocate()
            capacity = block.count
            postings = .allocate(capacity: capacity)
        }
        let rest = reader
        defer { reader = rest }
        reader = block.content
        var document = block.first
        for place in 0..<block.count {
            if place > 0 {
                let (sum, overflow) = document.addingReportingOverflow(try reader.varint())
                guard sum > document, !overflow else { throw SearchIndexError.damaged("the documents of a block are not in order") }
                document = sum
            }
            postings[place].document = document
        }
        let kinds = block.kind == 3 ? try reader.take((block.count + 3) / 4) : nil
        var positions = try self.positions(block)
        while count < block.count {
            let value = kinds.map { $0[count >> 2] >> UInt8((count & 3) * 2) & 3 } ?? block.kind
            guard let kind = PostingKind(rawValue: value) else { throw SearchIndexError.damaged("a posting has an unknown kind") }
            try readPosting(postings[count].document, kind)
            postings[count].positions = positions.next
            try positions.skipVarints(postings[count].total)
            postings[count].positionCount = positions.next - postings[count].positions
            count += 1
        }
    }

    private mutating func positions(_ block: PostingBlock) throws -> ByteReader {
        if let inline = block.positions { return inline }
        guard let place = block.positionPage else { return ByteReader(reader.end, end: reader.end) }
        firstPositionPage = firstPositionPage ?? place.number
        if positionPage?.number != place.number {
            positionPage = (place.number, try source.positions(of: segment, page: place.number))
        }
        guard let page = positionPage?.bytes, place.offset <= page.count else {
            throw SearchIndexError.damaged("a page of positions is too short")
        }
        return ByteReader(page.start + place.offset, end: page.start + page.count)
    }
}
