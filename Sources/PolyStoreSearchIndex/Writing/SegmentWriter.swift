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
    /// The numbers of positions and postings in the segment when the last page was completed.
    private var mark: (positionPages: Int, positionBytes: Int, postings: Int)?

    // The page that is being filled.
    private let page = ByteBuffer(capacity: 8_192)
    private var base: DocumentKey = 0
    private var pageTerm = TermBuffer()
    // The run of the current term in this page.
    private var term = TermBuffer()
    private var hasTerm = false
    private var hasBlocks = false
    private var lastDocument: DocumentKey?
    private let run = ByteBuffer(capacity: 8_192)
    private var runBlocks = 0
    private var runLast: DocumentKey = 0
    private var delta = 0
    private var previousDelta = 0
    // The block of postings that is being collected.
    private let documents: UnsafeMutablePointer<DocumentKey>
    private let kinds: UnsafeMutablePointer<PostingKind>
    private let totals: UnsafeMutablePointer<Int>
    private var count = 0
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
        documents = .allocate(capacity: limits.block)
        kinds = .allocate(capacity: limits.block)
        totals = .allocate(capacity: limits.block)
    }

    deinit {
        pageTerm.deallocate()
        term.deallocate()
        documents.deallocate()
        kinds.deallocate()
        totals.deallocate()
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
        term.set(progress.term)
        hasTerm = true
        lastDocument = progress.document
        hasBlocks = true
        self.delta = delta
    }

    /// Begins a term, which must come after the one before, or be the one at which the segment was resumed.
    @inline(__always)
    func begin(_ next: TermBuffer) throws {
        if hasTerm {
            let order = term.compare(next)
            if order == 0, hasBlocks { return }
            guard order < 0 else { throw SearchIndexError.damaged("terms are not in order") }
        }
        hasTerm = true
        lastDocument = nil
        term.set(next.start, next.count)
        hasBlocks = false
        delta = 0
    }

    /// Adds a posting of the current term.
    @inline(__always)
    func add(_ posting: Posting) throws {
        if let lastDocument, posting.document <= lastDocument { throw SearchIndexError.damaged("the documents of a term are not in order") }
        lastDocument = posting.document
        if count > 0 {
            let bytes = max(frequencies.count, positions.count + posting.positionCount)
            if count >= limits.block || bytes > limits.page - limits.page / 4 { try closeBlock() }
        }
        documents[count] = posting.document
        kinds[count] = posting.kind
        totals[count] = posting.total
        count += 1
        frequencies.append(posting.frequencies, count: posting.frequencyCount)
        positions.append(posting.positions, count: posting.positionCount)
        delta += posting.kind.delta
    }

    /// Adds a term with a single posting.
    @inline(__always)
    func addSingle(_ next: TermBuffer, _ posting: Posting) throws {
        try begin(next)
        guard !hasBlocks, posting.positionCount <= limits.inlinePositions || posting.kind == .deleted else {
            try add(posting)
            return try end()
        }
        delta = posting.kind.delta
        writeSingle(posting)
    }

    /// Ends the current term.
    func end() throws {
        if count == 1, !hasBlocks, positions.count <= limits.inlinePositions || kinds[0] == .deleted {
            return endSingle()
        }
        if count > 0 { try closeBlock() }
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
    /// Writes the only posting of a term, which was collected, in a short form.
    private func endSingle() {
        writeSingle(
            Posting(
                document: documents[0], kind: kinds[0], total: totals[0], frequencies: frequencies.start, frequencyCount: frequencies.count,
                positions: positions.start, positionCount: positions.count
            )
        )
        clearBlock()
    }

    private func writeSingle(_ posting: Posting) {
        beginEntry(first: posting.document, more: posting.frequencyCount + posting.positionCount)
        appendTerm()
        page.append(1 | 2 | posting.kind.rawValue << 2)
        page.append(signed: Int64(bitPattern: posting.document &- base))
        page.append(posting.frequencies, count: posting.frequencyCount)
        page.append(posting.positions, count: posting.positionCount)
        segment.postings += 1
        finishTerm()
    }

    private func clearBlock() {
        count = 0
        frequencies.removeAll()
        positions.removeAll()
    }

    /// Encodes the collected postings as a block and adds it to the run of the term.
    private func closeBlock() throws {
        let isSeparate = positions.count > 0 && (hasBlocks || positions.count > limits.inlinePositions)
        try encodeDocuments()
        let impacts = count >= limits.impacts ? try self.impacts() : []
        let uniform = isUniform
        let needed = encoded.count + (isSeparate ? 0 : positions.count) + 64 + impacts.count * 6
        beginEntry(first: documents[0], more: needed)
        block.removeAll()
        block.append(varint: count)
        block.append((uniform ? kinds[0].rawValue : 3) | (isSeparate ? 4 : 0) | (impacts.isEmpty ? 0 : 8))
        block.append(varint: encoded.count)
        if isSeparate {
            appendSeparatePositions()
        } else {
            block.append(varint: positions.count)
        }
        block.append(signed: Int64(bitPattern: documents[0] &- base))
        block.append(varint: documents[count - 1] - documents[0])
        if !impacts.isEmpty {
            block.append(varint: impacts.count)
            for pair in impacts {
                block.append(varint: pair.frequency)
                block.append(varint: pair.length)
            }
        }
        block.append(encoded)
        if !isSeparate { block.append(positions) }
        run.append(block)
        runBlocks += 1
        runLast = documents[count - 1]
        hasBlocks = true
        segment.postings += count
        clearBlock()
    }

    private var isUniform: Bool {
        for index in 0..<count where kinds[index] != kinds[0] { return false }
        return true
    }

    private func encodeDocuments() throws {
        encoded.removeAll()
        for index in 1..<count { encoded.append(varint: documents[index] - documents[index - 1]) }
        if !isUniform {
            for start in stride(from: 0, to: count, by: 4) {
                var byte: UInt8 = 0
                for index in start..<min(start + 4, count) { byte |= kinds[index].rawValue << UInt8((index - start) * 2) }
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

    /// The pairs of frequency and length that bound the postings of the block.
    private func impacts() throws -> [Impact] {
        var pairs: [Impact] = []
        for index in 0..<count where kinds[index] != .deleted {
            guard let length = try length(documents[index]) else { continue }
            Impacts.add(totals[index], Int(length), to: &pairs)
        }
        Impacts.reduce(&pairs)
        return pairs
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
        pageTerm.clear()
    }

    private func appendTerm() {
        if page.count == 0 {
            page.append(1)
            for shift in stride(from: 0, to: 64, by: 8) { page.append(UInt8(truncatingIfNeeded: base >> UInt64(shift))) }
        }
        var shared = 0
        let common = min(pageTerm.count, term.count)
        while shared < common, pageTerm.start[shared] == term.start[shared] { shared += 1 }
        page.append(varint: shared)
        page.append(varint: term.count - shared)
        page.append(term.start + shared, count: term.count - shared)
        pageTerm.set(term.start, term.count)
    }

    /// Completes the page, with the run of the current term so far if it has one.
    private func closePage() {
        if runBlocks > 0 {
            appendTerm()
            page.append(0)
            page.append(varint: runBlocks)
            page.append(run)
            progress = TermPosition(term: term.bytes, document: runLast)
            progressDelta = delta - (0..<count).reduce(0) { $0 + kinds[$1].delta }
            run.removeAll()
            runBlocks = 0
        } else {
            progress = TermPosition(term: pageTerm.bytes, document: nil)
            progressDelta = previousDelta
        }
        guard let progress else { return }
        emit(PageKey.terms(segment.id, progress), page)
        segment.pages += 1
        page.removeAll()
        mark = (segment.positionPages, positionPage.count, segment.postings)
    }

    /// Ends this part of a segment at the current posting, even if the page is not full, or was not begun because deletions undid all additions.
    /// - Parameter position: The last posting that was merged.
    func pause(at position: TermPosition) throws {
        if count > 0 { try closeBlock() }
        if page.count + run.count > 0 { closePage() }
        progress = position
        progressDelta = position.document == nil ? 0 : delta
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
