/// Writes the pages of one segment, term by term in ascending order, and in each term document by document.
///
/// Postings are collected in blocks, blocks in the run of a term, and runs in pages. A page is complete when the next block does not fit.
final class SegmentWriter {
    /// The length of a document, for impacts; nil if the index does not have the document.
    typealias Length = (DocumentKey) throws -> UInt32?

    private let fields: Int
    private let limits: SearchIndexLimits
    private let length: Length
    private(set) var segment: Segment
    /// The pages that are complete.
    private(set) var output: [SearchPage] = []
    private(set) var outputBytes = 0
    /// The last posting of the pages that are complete, and the change of the frequency of its term up to there.
    private(set) var progress: TermPosition?
    private(set) var progressDelta = 0
    /// What the segment had of positions and postings when the last page was completed.
    private var mark: (positionPages: Int, positionBytes: Int, postings: Int)?

    // The page that is being filled.
    private let page = ByteBuffer(capacity: 8_192)
    private var base: DocumentKey = 0
    private var pageTerm: [UInt8] = []
    // The run of the current term in this page.
    private var term: [UInt8] = []
    private var hasBlocks = false
    private let run = ByteBuffer(capacity: 8_192)
    private var runBlocks = 0
    private var runLast: DocumentKey = 0
    private var delta = 0
    private var previousDelta = 0
    private var previousTerm: [UInt8]?
    // The block of postings that is being collected.
    private var documents: [DocumentKey] = []
    private var kinds: [PostingKind] = []
    private var totals: [Int] = []
    private let frequencies = ByteBuffer(capacity: 1_024)
    private let positions = ByteBuffer(capacity: 4_096)
    private let block = ByteBuffer(capacity: 4_096)
    private let encoded = ByteBuffer(capacity: 4_096)
    // The page of positions that is being filled.
    private let positionPage = ByteBuffer(capacity: 8_192)

    init(_ segment: Segment, fields: Int, limits: SearchIndexLimits, length: @escaping Length) {
        self.segment = segment
        self.fields = fields
        self.limits = limits
        self.length = length
        documents.reserveCapacity(limits.block)
        kinds.reserveCapacity(limits.block)
        totals.reserveCapacity(limits.block)
    }

    /// Continues a segment that is written in parts.
    /// - Parameters:
    ///   - progress: The last posting that was written.
    ///   - delta: The change of the frequency of its term up to there.
    ///   - positions: The last page of positions; nil if there is none.
    func resume(after progress: TermPosition, delta: Int, positions: [UInt8]?) {
        self.progress = progress
        progressDelta = delta
        if let positions {
            segment.positionPages -= 1
            positionPage.append(positions)
        }
        guard progress.document != nil else { return }
        term = progress.term
        hasBlocks = true
        self.delta = delta
    }

    /// Begins a term, which must come after the one before, or be the one at which the segment was resumed.
    func begin(_ term: [UInt8]) {
        if hasBlocks, self.term == term { return }
        self.term = term
        hasBlocks = false
        delta = 0
    }

    /// Adds a posting of the current term.
    func add(_ posting: Posting) throws {
        if !documents.isEmpty {
            let bytes = max(frequencies.count, positions.count + posting.positions.count)
            if documents.count >= limits.block || bytes > limits.page - limits.page / 4 { try closeBlock() }
        }
        documents.append(posting.document)
        kinds.append(posting.kind)
        totals.append(posting.total)
        if let base = posting.frequencies.baseAddress { frequencies.append(base, count: posting.frequencies.count) }
        if let base = posting.positions.baseAddress { positions.append(base, count: posting.positions.count) }
        delta += posting.kind.delta
    }

    /// Ends the current term.
    func end() throws {
        if !documents.isEmpty, !hasBlocks, documents.count == 1, positions.count <= limits.inlinePositions || kinds[0] == .deleted {
            return endSingle()
        }
        if !documents.isEmpty { try closeBlock() }
        guard hasBlocks else { return }
        if runBlocks == 0 { beginEntry(first: runLast, more: 16) }
        let blocks = runBlocks
        let bytes = run.count
        appendTerm()
        page.append(1)
        page.append(signed: Int64(delta))
        page.append(varint: blocks)
        page.append(run.start, count: bytes)
        finishTerm()
    }

    private func finishTerm() {
        run.removeAll()
        runBlocks = 0
        previousTerm = term
        previousDelta = delta
        hasBlocks = false
    }

    /// Completes the last page and the page of positions.
    func finish() {
        if page.count > 0 { closePage() }
        closePositions()
    }

    /// Gives away the pages that are complete.
    func takeOutput() -> [SearchPage] {
        defer {
            output.removeAll(keepingCapacity: true)
            outputBytes = 0
        }
        return output
    }
}

extension SegmentWriter {
    /// Writes the only posting of a term in a short form.
    private func endSingle() {
        beginEntry(first: documents[0], more: frequencies.count + positions.count)
        appendTerm()
        page.append(1 | 2 | kinds[0].rawValue << 2)
        page.append(signed: Int64(bitPattern: documents[0] &- base))
        page.append(frequencies)
        page.append(positions)
        segment.postings += 1
        clearBlock()
        finishTerm()
    }

    private func clearBlock() {
        documents.removeAll(keepingCapacity: true)
        kinds.removeAll(keepingCapacity: true)
        totals.removeAll(keepingCapacity: true)
        frequencies.removeAll()
        positions.removeAll()
    }

    /// Encodes the collected postings as a block and adds it to the run of the term.
    private func closeBlock() throws {
        let isSeparate = positions.count > 0 && (hasBlocks || positions.count > limits.inlinePositions)
        try encodeDocuments()
        let impacts = documents.count >= limits.impacts ? try self.impacts() : []
        let uniform = kinds.allSatisfy { $0 == kinds[0] }
        let needed = encoded.count + (isSeparate ? 0 : positions.count) + 64 + impacts.count * 6
        beginEntry(first: documents[0], more: needed)
        block.removeAll()
        block.append(varint: documents.count)
        block.append((uniform ? kinds[0].rawValue : 3) | (isSeparate ? 4 : 0) | (impacts.isEmpty ? 0 : 8))
        block.append(varint: encoded.count)
        if isSeparate {
            appendSeparatePositions()
        } else {
            block.append(varint: positions.count)
        }
        block.append(signed: Int64(bitPattern: documents[0] &- base))
        block.append(varint: documents[documents.count - 1] - documents[0])
        if !impacts.isEmpty {
            block.append(varint: impacts.count)
            for (frequency, length) in impacts {
                block.append(varint: frequency)
                block.append(varint: length)
            }
        }
        block.append(encoded)
        if !isSeparate { block.append(positions) }
        run.append(block)
        runBlocks += 1
        runLast = documents[documents.count - 1]
        hasBlocks = true
        segment.postings += documents.count
        clearBlock()
    }

    private func encodeDocuments() throws {
        encoded.removeAll()
        for index in documents.indices.dropFirst() { encoded.append(varint: documents[index] - documents[index - 1]) }
        if !kinds.allSatisfy({ $0 == kinds[0] }) {
            for start in stride(from: 0, to: kinds.count, by: 4) {
                var byte: UInt8 = 0
                for index in start..<min(start + 4, kinds.count) { byte |= kinds[index].rawValue << UInt8((index - start) * 2) }
                encoded.append(byte)
            }
        }
        encoded.append(frequencies)
    }

    /// Puts the positions of the block into the page of positions, and writes where they are.
    private func appendSeparatePositions() {
        if positionPage.count > 0, positionPage.count + positions.count > limits.page { closePositions() }
        block.append(varint: segment.positionPages)
        block.append(varint: positionPage.count)
        positionPage.append(positions)
    }

    private func closePositions() {
        guard positionPage.count > 0 else { return }
        emit(PageKey.positions(segment.id, segment.positionPages), positionPage)
        segment.positionPages += 1
        positionPage.removeAll()
    }

    /// The pairs of frequency and length of which each posting of the block is dominated by one: no lower frequency and no greater length.
    ///
    /// At most four pairs; where there are more, neighbors are combined into a pair that dominates both.
    private func impacts() throws -> [(frequency: Int, length: Int)] {
        var pairs: [(frequency: Int, length: Int)] = []
        for (index, document) in documents.enumerated() where kinds[index] != .deleted {
            guard let length = try length(document) else { continue }
            pairs.append((totals[index], Int(length)))
        }
        return Impacts.reduced(pairs)
    }

    private func emit(_ key: [UInt8], _ buffer: ByteBuffer) {
        output.append(SearchPage(key: key, bytes: buffer.bytes))
        outputBytes += key.count + buffer.count
    }

    /// Completes the page if an entry or block does not fit, and begins a page with a document as its base.
    private func beginEntry(first: DocumentKey, more: Int) {
        let size = page.count + run.count + more + (runBlocks == 0 || page.count == 0 ? term.count + 24 : 0)
        if page.count + run.count > 0, size > limits.page { closePage() }
        guard page.count == 0, run.count == 0 else { return }
        base = first
        pageTerm = []
    }

    private func appendTerm() {
        if page.count == 0 {
            page.append(1)
            for shift in stride(from: 0, to: 64, by: 8) { page.append(UInt8(truncatingIfNeeded: base >> UInt64(shift))) }
        }
        var shared = 0
        while shared < min(pageTerm.count, term.count), pageTerm[shared] == term[shared] { shared += 1 }
        page.append(varint: shared)
        page.append(varint: term.count - shared)
        term.withUnsafeBufferPointer { if let start = $0.baseAddress { page.append(start + shared, count: $0.count - shared) } }
        pageTerm = term
    }

    /// Completes the page, with the run of the current term so far if it has one.
    private func closePage() {
        if runBlocks > 0 {
            appendTerm()
            page.append(0)
            page.append(varint: runBlocks)
            page.append(run)
            progress = TermPosition(term: term, document: runLast)
            progressDelta = delta - documents.indices.reduce(0) { $0 + kinds[$1].delta }
            run.removeAll()
            runBlocks = 0
        } else if let previousTerm {
            progress = TermPosition(term: previousTerm, document: nil)
            progressDelta = previousDelta
        }
        guard let progress else { return }
        emit(PageKey.terms(segment.id, progress), page)
        segment.pages += 1
        page.removeAll()
        mark = (segment.positionPages, positionPage.count, segment.postings)
    }

    /// Returns whether pages of a number of bytes are complete, one of postings among them.
    func hasOutput(_ bytes: Int) -> Bool { outputBytes >= bytes && mark != nil }

    /// Ends this part of a segment after the last complete page. What was added after it is discarded, and is added again when the segment is resumed.
    func stop() {
        guard let mark else { return }
        let first = PageKey.positions(segment.id, mark.positionPages)
        var partial: [UInt8]? = segment.positionPages == mark.positionPages ? positionPage.bytes : nil
        output.removeAll { page in
            guard page.key[0] == first[0], !page.key.precedes(first) else { return false }
            if page.key == first { partial = page.bytes }
            return true
        }
        segment.positionPages = mark.positionPages
        segment.postings = mark.postings
        guard mark.positionBytes > 0, let partial else { return }
        output.append(SearchPage(key: first, bytes: Array(partial.prefix(mark.positionBytes))))
        segment.positionPages += 1
    }
}
