/// A cursor over the postings of one segment. It finds a term, or iterates over the terms, and iterates over the documents of the term.
final class SegmentCursor {
    let source: PageSource
    let view: SegmentView
    let fields: Int

    // The page.
    var page: TermPage?
    var reader: ByteReader
    var base: DocumentKey = 0
    var ahead: [TermPage] = []
    var aheadNext = 0
    var aheadLimit = 1
    /// The maximum number of pages that are read together.
    var mostAhead = 64
    private var entersTerms = true
    /// A Boolean value that indicates whether the segment ended within the term, which is its last.
    private var hasEnded = false

    /// The term.
    var term: [UInt8] = []
    var hasTerm = false
    var endsHere = false
    var endDelta = 0
    var blocksLeft = 0
    var hasSingle = false
    /// A Boolean value that indicates whether ``block`` is one of the current term.
    private var hasBlock = false

    /// The block of the current posting.
    var block: PostingBlock
    /// The bounds of the block, once they were read.
    var line: ImpactLine?
    /// A Boolean value that indicates whether the block contains the documents for which bounds were requested.
    var isInBlock = false
    var isDecoded = false
    var hasFrequencies = false
    var index = 0
    let noBytes: UnsafeMutablePointer<UInt8>
    var capacity = 0
    var documents: UnsafeMutablePointer<DocumentKey>
    var kinds: UnsafePointer<UInt8>?
    var frequencies: ByteReader
    var totals: UnsafeMutablePointer<UInt32>
    var frequencyOffsets: UnsafeMutablePointer<UInt32>
    var positionReader: ByteReader?
    var positionIndex = 0
    var positionBytes: (number: Int, bytes: PageBytes)?

    /// The document of the current posting.
    var document: DocumentKey = 0
    /// A Boolean value that indicates whether the term has no more postings.
    var isAtEnd = true
    /// The number of postings of the blocks that were decoded.
    var decoded = 0

    init(_ source: PageSource, _ view: SegmentView) {
        self.source = source
        self.view = view
        fields = source.fields
        noBytes = .allocate(capacity: 1)
        let empty = ByteReader(noBytes, end: noBytes)
        reader = empty
        frequencies = empty
        block = PostingBlock(empty: empty)
        documents = .allocate(capacity: 1)
        totals = .allocate(capacity: 1)
        frequencyOffsets = .allocate(capacity: 1)
    }

    deinit {
        noBytes.deallocate()
        documents.deallocate()
        totals.deallocate()
        frequencyOffsets.deallocate()
    }
}

extension PostingBlock {
    init(empty: ByteReader) {
        content = empty
        impacts = empty
    }
}

/// Terms.
extension SegmentCursor {
    /// The key to seek for the first posting of a term; nil if an unfinished merge has moved the term.
    static func key(_ view: SegmentView, _ term: [UInt8]) -> [UInt8]? {
        guard let after = view.after, !after.term.precedes(term) else { return PageKey.terms(view.id, term, 0) }
        guard after.term == term, let document = after.document else { return nil }
        return document == .max ? nil : PageKey.terms(view.id, term, document + 1)
    }

    /// The key to seek for the end of a term; nil if an unfinished merge has moved the term.
    static func endKey(_ view: SegmentView, _ term: [UInt8]) -> [UInt8]? {
        if let after = view.after, term.precedes(after.term) || (after.term == term && after.document == nil) { return nil }
        return PageKey.terms(view.id, term, nil)
    }

    /// Goes to the first posting of a term. Returns false if the segment does not have the term.
    func seek(_ sought: [UInt8]) throws -> Bool {
        isAtEnd = true
        guard let key = Self.key(view, sought), try find(sought, key) else { return false }
        try enterTerm()
        return true
    }

    /// The change of the number of documents with a term by this segment.
    func delta(of sought: [UInt8]) throws -> Int {
        isAtEnd = true
        guard let key = Self.endKey(view, sought), try find(sought, key) else { return 0 }
        guard endsHere else { throw SearchIndexError.damaged("the end of a term is missing in segment \(view.id)") }
        return endDelta
    }

    /// The change of the number of documents with the current term, after its last posting.
    var delta: Int { endDelta }

    private func find(_ sought: [UInt8], _ key: [UInt8]) throws -> Bool {
        guard let found = try source.page(of: view.id, atOrAfter: key) else { return false }
        try open(found)
        while !reader.isAtEnd {
            try readEntry()
            if term == sought { return true }
            if sought.precedes(term) { return false }
            hasSingle = false
            while blocksLeft > 0 { _ = try nextBlock() }
        }
        return false
    }

    /// Goes to the first term that is not below a term, in order to read terms in sequence. Returns false if there is none.
    /// - Parameter entersTerms: Whether to go to the first posting of each term. Otherwise ``fork()`` gives a cursor for the postings.
    func start(at first: [UInt8], entersTerms: Bool = true) throws -> Bool {
        self.entersTerms = entersTerms
        isAtEnd = true
        var key = PageKey.terms(view.id, from: first)
        if let after = view.after, !after.term.precedes(first) { key = PageKey.terms(view.id, after) }
        guard let found = try source.page(of: view.id, atOrAfter: key) else { return false }
        try open(found)
        while try nextEntry() {
            if !term.precedes(first), isVisible {
                if entersTerms { try enterTerm() }
                return true
            }
            try skipTerm()
        }
        return false
    }

    /// Goes to the first posting of the next term. Returns false if there is none.
    func nextTerm() throws -> Bool {
        try skipTerm()
        isAtEnd = true
        guard try nextEntry() else { return false }
        if entersTerms { try enterTerm() }
        return true
    }

    /// A Boolean value that indicates whether the segment still has the term, because no unfinished merge has moved all of it.
    ///
    /// A term that a merge has moved in part is visible even if no postings remain, because its frequency has not been moved.
    private var isVisible: Bool {
        guard let after = view.after else { return true }
        return after.term.precedes(term) || (after.term == term && after.document != nil)
    }

    private func skipTerm() throws {
        if !entersTerms, !endsHere {
            // The pages up to the end of the term are not read.
            let expected = term
            if try !find(expected, PageKey.terms(view.id, expected, nil)) {
                try endPartialTerm()
            } else if !endsHere {
                throw SearchIndexError.damaged("the end of a term is missing in segment \(view.id)")
            }
            ahead = []
            aheadNext = 0
        }
        while try nextBlock() {}
    }

    /// Returns a cursor at the first posting of the current term, which was not entered.
    func fork() throws -> SegmentCursor {
        let copy = copy()
        try copy.enterTerm()
        return copy
    }

    /// Returns a cursor before the first posting of the current term, which was not entered.
    func copy() -> SegmentCursor {
        let copy = SegmentCursor(source, view)
        (copy.page, copy.reader, copy.base) = (page, reader, base)
        (copy.term, copy.hasTerm, copy.endsHere, copy.endDelta) = (term, hasTerm, endsHere, endDelta)
        (copy.blocksLeft, copy.hasSingle, copy.block) = (blocksLeft, hasSingle, block)
        copy.block.hasReadImpacts = false
        return copy
    }

    private func nextEntry() throws -> Bool {
        while reader.isAtEnd { guard try nextPage() else { return false } }
        let (previous, hadTerm) = (term, hasTerm)
        try readEntry()
        guard !hadTerm || previous.precedes(term) else {
            throw SearchIndexError.damaged("the terms of segment \(view.id) are not in order")
        }
        return true
    }

    private func enterTerm() throws {
        isAtEnd = try !nextBlock()
        guard !isAtEnd else { return }
        try enterBlock()
        guard let after = view.after, after.term == term, let moved = after.document else { return }
        if moved == .max {
            try skipTerm()
            isAtEnd = true
        } else {
            try skip(to: moved + 1)
        }
    }
}

extension SegmentCursor {
    /// An estimate of the number of postings of the current term.
    var estimate: Int {
        if !endsHere { return 1 << 20 }
        return max(endDelta, block.count * (blocksLeft + 1))
    }
}

/// Pages, entries and blocks.
extension SegmentCursor {
    private func open(_ found: TermPage) throws {
        page = found
        reader = found.bytes.reader
        term = []
        hasTerm = false
        guard try reader.byte() == 1 else { throw SearchIndexError.damaged("a page of segment \(view.id) has an unknown form") }
        let start = try reader.take(8)
        base = (0..<8).reduce(UInt64(0)) { $0 | UInt64(start[$1]) << UInt64($1 * 8) }
    }

    /// Moves to the page after the current one. Each read in sequence requests twice as many pages as the one before, up to ``mostAhead``.
    private func nextPage() throws -> Bool {
        guard let page, !hasEnded else { return false }
        if aheadNext == ahead.count {
            ahead = try source.pages(of: view.id, from: page.key + [0], limit: aheadLimit)
            aheadNext = 0
            aheadLimit = min(aheadLimit * 2, mostAhead)
        }
        guard aheadNext < ahead.count else { return false }
        let next = ahead[aheadNext]
        aheadNext += 1
        let (previous, hadTerm) = (term, hasTerm)
        try open(next)
        (term, hasTerm) = (previous, hadTerm)
        return true
    }

    private func readEntry() throws {
        let shared = try reader.count(atMost: term.count)
        let count = try reader.count(atMost: PageKey.maximumTermLength)
        guard shared + count <= PageKey.maximumTermLength else { throw SearchIndexError.damaged("a term is too long") }
        let start = try reader.take(count)
        term.removeSubrange(shared...)
        term.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        hasTerm = true
        hasBlock = false
        let head = try reader.byte()
        guard head < 16 else { throw SearchIndexError.damaged("an entry of segment \(view.id) has an unknown form") }
        endsHere = head & 1 != 0
        hasSingle = head & 2 != 0
        blocksLeft = 0
        if hasSingle {
            block = try PostingBlock(single: &reader, head: head, base: base, fields: fields)
            isDecoded = false
            endDelta = PostingKind(rawValue: block.kind)?.delta ?? 0
            return
        }
        if endsHere {
            let delta = try reader.signed()
            guard delta.magnitude <= 1 << 48 else { throw SearchIndexError.damaged("a term of segment \(view.id) has an impossible count") }
            endDelta = Int(delta)
        }
        blocksLeft = try reader.count(atMost: reader.remaining)
    }

    /// Goes to the next block of the term. Returns false if there is none.
    func nextBlock() throws -> Bool {
        while true {
            if hasSingle {
                hasSingle = false
                hasBlock = true
                return true
            }
            if blocksLeft > 0 {
                let next = try PostingBlock(&reader, base: base)
                try checkOrder(of: next, after: hasBlock ? block.last : nil)
                block = next
                hasBlock = true
                blocksLeft -= 1
                isDecoded = false
                return true
            }
            if endsHere { return false }
            guard try nextPage() else {
                try endPartialTerm()
                return false
            }
            try continueTerm()
        }
    }

    /// Ends a term that has no further page. Only the output of an unfinished merge ends within a term.
    private func endPartialTerm() throws {
        guard view.isPartial else { throw SearchIndexError.damaged("segment \(view.id) ends within a term") }
        endsHere = true
        hasEnded = true
        blocksLeft = 0
        hasSingle = false
        reader = ByteReader(reader.end, end: reader.end)
    }

    /// Reads the first entry of a page, which must continue the term.
    private func continueTerm() throws {
        let expected = term
        let previous = hasBlock ? block.last : nil
        term = []
        try readEntry()
        // The first block of the page is compared with the last one of the page before.
        if hasSingle { try checkOrder(of: block, after: previous) } else { hasBlock = previous != nil }
        guard term == expected else { throw SearchIndexError.damaged("the end of a term is missing in segment \(view.id)") }
    }

    /// Checks that the documents of a block are greater than those before it.
    private func checkOrder(of next: PostingBlock, after previous: DocumentKey?) throws {
        guard let previous, next.first <= previous else { return }
        throw SearchIndexError.damaged("the postings of a term of segment \(view.id) are not in order")
    }

    /// Goes to the block with the first document that is not below a document. Returns false if there is none.
    func moveBlock(to target: DocumentKey) throws -> Bool {
        while block.last < target {
            if blocksLeft > 0 || endsHere {
                guard try nextBlock() else { return false }
            } else {
                let key = PageKey.terms(view.id, term, target)
                while aheadNext < ahead.count, ahead[aheadNext].key.precedes(key) { aheadNext += 1 }
                guard try aheadNext < ahead.count ? nextBlock() : seekPage(key) else { return false }
            }
        }
        return true
    }

    /// Moves to the first page of the term from a key on. Returns false if the term has none.
    ///
    /// While successive calls find neighboring pages, each read requests twice as many pages as the one before, up to ``mostAhead``.
    private func seekPage(_ key: [UInt8]) throws -> Bool {
        ahead = []
        aheadNext = 0
        let previous = block.last
        guard let found = try pageAhead(from: key) else {
            try endPartialTerm()
            return false
        }
        guard page.map({ $0.key.precedes(found.key) }) ?? true else {
            throw SearchIndexError.damaged("a page of segment \(view.id) does not reach its last document")
        }
        let expected = term
        try open(found)
        term = expected
        try continueTerm()
        aheadLimit = follows(previous, found) ? min(aheadLimit * 2, mostAhead) : 1
        return try nextBlock()
    }

    /// Returns the first page from a key on, and keeps those after it that were read with it.
    private func pageAhead(from key: [UInt8]) throws -> TermPage? {
        guard aheadLimit > 1 else { return try source.page(of: view.id, atOrAfter: key) }
        ahead = try source.pages(of: view.id, from: key, limit: aheadLimit)
        aheadNext = 1
        return ahead.first
    }

    /// Returns whether a page seems to follow a document: whether the gap between them is less than half of what the page spans.
    private func follows(_ document: DocumentKey, _ found: TermPage) -> Bool {
        guard found.key.starts(with: PageKey.terms(view.id, term, 0).dropLast(8)) else { return false }
        let last = found.key.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return document < base && base <= last && base - document <= (last - base) / 2
    }
}
