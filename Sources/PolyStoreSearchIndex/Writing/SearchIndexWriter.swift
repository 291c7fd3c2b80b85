import PolyStoreSearch

/// Maintains the index of one search in a write transaction.
///
/// Changes are collected and written by ``flush()``, before a search of the same transaction and before its commit, and also when they exceed a limit of memory.
public final class SearchIndexWriter {
    let pages: any SearchPageWriter
    let fields: Int
    let limits: SearchIndexLimits
    private(set) var lengths: LengthReader
    private let tokenizer: SearchTokenizer
    private let table: PostingTable
    /// The document of each change.
    private var documents: [DocumentKey] = []
    /// The number of tokens that the document of each change has before it; nil if it is added.
    private var oldLengths: [UInt32?] = []
    /// The number of tokens that the document of each change has after it; nil if it is removed.
    private var newLengths: [UInt32?] = []
    /// The chunks of the lengths of the documents.
    private var chunks = Set<UInt64>()
    private var lastChunk: UInt64?
    private var documentDelta = 0
    private var tokenDelta = 0
    private var known: IndexStructure?
    private var hasFailed = false

    /// Creates a writer. Reads nothing before the first change is written.
    public convenience init(_ pages: any SearchPageWriter, fields: Int, options: SearchOptions) {
        self.init(pages, fields: fields, options: options, limits: SearchIndexLimits())
    }

    package init(_ pages: any SearchPageWriter, fields: Int, options: SearchOptions, limits: SearchIndexLimits) {
        self.pages = pages
        self.fields = fields
        self.limits = limits
        tokenizer = SearchTokenizer(options)
        table = PostingTable(fields: fields)
        lengths = LengthReader(pages)
    }

    /// Replaces the texts of a document in the index.
    /// - Parameters:
    ///   - document: The id of the document, any 64-bit integer.
    ///   - old: The texts that the index has for the document, one for each field; nil for a document that it does not have.
    ///   - new: The texts that it is to have; nil to remove the document.
    /// - Throws: `damaged` when the changes are written, if the index has another number of tokens of the document than `old`, which needs no more pages. A document that is added is not
    ///   checked: a server refuses an object that exists after it has received the pages.
    public func replace(_ document: Int64, old: [String?]?, new: [String?]?) throws {
        if old == new { return }
        let slot = documents.count
        documents.append(document.documentKey)
        var oldLength: UInt32 = 0
        if let old {
            documentDelta -= 1
            forEachToken(of: old) { term, _, _ in
                oldLength += 1
                table.addOld(term, slot: slot)
            }
            tokenDelta -= Int(oldLength)
        }
        oldLengths.append(old == nil ? nil : oldLength)
        var length: UInt32 = 0
        if let new {
            documentDelta += 1
            forEachToken(of: new) { term, field, position in
                length += 1
                table.add(term, slot: slot, field: field, position: position)
            }
            tokenDelta += Int(length)
        }
        newLengths.append(new == nil ? nil : length)
        let chunk = PageKey.chunk(document.documentKey)
        if chunk != lastChunk {
            lastChunk = chunk
            chunks.insert(chunk)
        }
        // A chunk needs 1 KiB while it is changed, and its page.
        if table.size + documents.count * 32 + chunks.count * 1_600 >= limits.memory { try flushChanges() }
    }

    @inline(__always)
    private func forEachToken(of texts: [String?], _ body: (UnsafeBufferPointer<UInt8>, Int, Int) -> Void) {
        for (field, text) in texts.prefix(fields).enumerated() {
            guard var text else { continue }
            text.withUTF8 { bytes in tokenizer.forEachToken(in: bytes) { term, _, position in body(term, field, position) } }
        }
    }

    /// Writes the collected changes and a bounded part of the merges that are due.
    public func flush() throws { try flushChanges() }

    /// Discards the collected changes and what was read, after the transaction was rolled back to a savepoint or a flush failed.
    ///
    /// The changes since the savepoint that remain must be given again.
    public func reset() {
        hasFailed = false
        known = nil
        lengths = LengthReader(pages)
        removeChanges()
    }

    private func removeChanges() {
        documents.removeAll(keepingCapacity: true)
        oldLengths.removeAll(keepingCapacity: true)
        newLengths.removeAll(keepingCapacity: true)
        chunks.removeAll(keepingCapacity: true)
        lastChunk = nil
        documentDelta = 0
        tokenDelta = 0
        table.removeAll()
    }
}

extension SearchIndexWriter {
    /// The structure of the index; a new one if nothing was written yet.
    func structure() throws -> IndexStructure {
        if let known { return known }
        let read = try pages.pages(at: [PageKey.structure])[0].map { try IndexStructure($0, fields: fields) }
        let structure = read ?? IndexStructure(fields: fields)
        known = structure
        return structure
    }

    /// Writes pages and the structure.
    func write(_ changed: [SearchPage], removing keys: [[UInt8]] = [], _ structure: IndexStructure) throws {
        known = nil
        var rest = changed[...]
        while rest.count > 512 {
            try pages.write(Array(rest.prefix(512)), removing: [])
            rest = rest.dropFirst(512)
        }
        var removed = keys[...]
        while removed.count > 512 {
            try pages.write([], removing: Array(removed.prefix(512)))
            removed = removed.dropFirst(512)
        }
        try pages.write(Array(rest) + [SearchPage(key: PageKey.structure, bytes: structure.bytes)], removing: Array(removed))
        known = structure
    }

    private func flushChanges() throws {
        guard !hasFailed else {
            throw SearchIndexError.damaged("an earlier flush of this transaction failed, and the transaction continued without reset()")
        }
        guard !documents.isEmpty else { return }
        hasFailed = true
        var structure = try structure()
        let (lengthPages, emptied) = try updateLengths()
        structure.documents = max(0, structure.documents + documentDelta)
        structure.tokens = max(0, structure.tokens + tokenDelta)
        let (segment, changed) = try makeSegment(structure.nextSegment)
        if segment.postings > 0 { structure.nextSegment += 1 }
        let (merged, removed) = try advanceMerges(&structure, flushed: changed.reduce(0) { $0 + $1.bytes.count })
        if segment.postings > 0 { structure.segments.append(segment) }
        structure.plan(fanout: limits.fanout)
        try write(lengthPages + merged + changed, removing: removed + emptied, structure)
        lengths.writeEnded()
        try limitSegments(&structure)
        removeChanges()
        hasFailed = false
    }

    /// Checks and sets the lengths of the changed documents. Returns the changed pages, and the keys of those that have no documents any more.
    private func updateLengths() throws -> ([SearchPage], [[UInt8]]) {
        let numbers = Set(documents.map(PageKey.chunk)).sorted()
        let chunks = try lengths.change(numbers)
        for (change, document) in documents.enumerated() {
            guard let chunk = chunks[PageKey.chunk(document)] else { continue }
            if let expected = oldLengths[change], chunk[document] != expected { throw Self.differs(document, chunk[document], expected) }
            chunk[document] = newLengths[change] ?? LengthChunk.absent
        }
        var changed: [SearchPage] = []
        var emptied: [[UInt8]] = []
        for number in numbers {
            guard let chunk = chunks[number] else { continue }
            if chunk.count == 0 {
                emptied.append(PageKey.lengths(number))
            } else {
                changed.append(SearchPage(key: PageKey.lengths(number), bytes: chunk.bytes))
            }
        }
        return (changed, emptied)
    }

    /// The error for a document whose length in the index is not the one that its texts have before a change.
    private static func differs(_ document: DocumentKey, _ known: UInt32, _ expected: UInt32) -> SearchIndexError {
        let name = "document \(document.document)"
        if known == LengthChunk.absent { return .damaged("it does not have \(name), whose texts are changed or removed") }
        return .damaged("it has \(known) tokens of \(name), whose texts before the change have \(expected)")
    }

    /// Makes a segment of the collected changes.
    private func makeSegment(_ id: UInt64) throws -> (Segment, [SearchPage]) {
        let writer = SegmentWriter(Segment(id: id, level: 0), fields: fields, limits: limits, length: length)
        let decoder = PostingDecoder(documents: documents, fields: fields)
        for index in table.sorted() { try decoder.write(index, of: table, to: writer) }
        writer.finish()
        var segment = writer.segment
        segment.level = IndexStructure.level(pages: segment.pages + segment.positionPages, fanout: limits.fanout)
        return (segment, writer.takeOutput())
    }

    /// The length of a document, for the impacts of its postings.
    func length(_ document: DocumentKey) throws -> UInt32? {
        let length = try lengths.length(document)
        return length == LengthChunk.absent ? nil : length
    }
}
