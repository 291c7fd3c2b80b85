/// Goes through the documents with a term, in all segments: of a document the newest posting counts.
///
/// Ids mostly ascend, so segments have few documents between those of others. The current segment is read alone up to the first document of the others.
final class TermCursor: PhraseCursor {
    /// The segments with the term that are not at their end, newest first.
    private var segments: [SegmentCursor]
    private let mask: UInt64
    private let isMasked: Bool
    /// The segment with the current document.
    private var current: SegmentCursor
    /// A document that is not above those of the segments besides the current one.
    private var horizon: DocumentKey = 0
    /// The documents below are passed. Segments besides the current one can be behind.
    private var floor: DocumentKey = 0
    /// The segments that can have documents of the range for which bounds were requested.
    private var inRange: [SegmentCursor] = []
    private let frequency: Int

    /// Creates a cursor.
    /// - Parameters:
    ///   - segments: Cursors at the first posting of the term, newest first; at least one.
    ///   - frequency: The number of documents with the term.
    ///   - mask: The fields in which the term must occur.
    init(_ segments: [SegmentCursor], frequency: Int, mask: UInt64, fields: Int) throws {
        self.segments = segments
        self.frequency = frequency
        let all: UInt64 = fields >= 64 ? .max : (1 << UInt64(fields)) - 1
        self.mask = mask & all
        isMasked = self.mask != all
        current = segments[0]
        super.init()
        try change()
    }

    override var estimate: Int { frequency }

    override func next() throws {
        let segment = current
        try segment.next()
        if !segment.isAtEnd, segment.document < horizon, !isMasked, segment.block.kind < PostingKind.deleted.rawValue {
            document = segment.document
        } else {
            try settle()
        }
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        floor = max(floor, target)
        guard target <= horizon else { return try change() }
        try current.skip(to: target)
        try settle()
    }

    override func nextDocuments(_ limit: Int) throws -> [DocumentKey] {
        guard !isMasked else { return try super.nextDocuments(limit) }
        var documents: [DocumentKey] = []
        documents.reserveCapacity(min(limit, frequency))
        while !isAtEnd, documents.count < limit {
            if current.block.last < horizon {
                try current.appendDocuments(to: &documents, limit - documents.count)
                try settle()
            } else {
                documents.append(document)
                try next()
            }
        }
        return documents
    }

    override func retain(_ documents: inout [DocumentKey]) throws {
        guard !isMasked, !isAtEnd, let last = documents.last, last < horizon else { return try super.retain(&documents) }
        floor = max(floor, last)
        try current.retain(&documents)
        try settle()
    }

    /// Finds the first document from the posting of the current segment on that is not a deletion.
    @inline(__always)
    private func settle() throws {
        let segment = current
        while !segment.isAtEnd, segment.document < horizon {
            if try segment.kind() != .deleted, try !isMasked || occursInMask() {
                document = segment.document
                return
            }
            try segment.next()
        }
        try change()
    }

    /// Finds the smallest document of the segments whose newest posting is not a deletion, and makes its segment the current one.
    @inline(never)
    private func change() throws {
        while true {
            for segment in segments { try segment.skip(to: floor) }
            segments.removeAll { $0.isAtEnd }
            guard var found = segments.first else {
                isAtEnd = true
                return
            }
            for segment in segments where segment.document < found.document { found = segment }
            current = found
            horizon = .max
            for segment in segments where segment !== found {
                // The newest posting of a document counts.
                if segment.document == found.document { try segment.next() }
                if !segment.isAtEnd { horizon = min(horizon, segment.document) }
            }
            repeat {
                if try found.kind() != .deleted, try !isMasked || occursInMask() {
                    document = found.document
                    return
                }
                try found.next()
            } while !found.isAtEnd && found.document < horizon
        }
    }

    /// Returns a bound for the score of the term in documents from one on, and the last document for which the bound holds. Also returns whether one of them can have the term.
    ///
    /// Only ``skip(to:)`` for this or a greater document may follow.
    func bound(from target: DocumentKey, _ score: TermScore) throws -> (upTo: DocumentKey, bound: Double, occurs: Bool) {
        inRange.removeAll(keepingCapacity: true)
        floor = max(floor, target)
        if isAtEnd { return (.max, 0, false) }
        if target < horizon, !current.isAtEnd {
            let last = try current.shallow(to: target)
            if !current.isAtEnd, current.block.last < horizon {
                guard current.isInBlock else { return (last, 0, false) }
                inRange.append(current)
                return (last, try bound(of: current, score), true)
            }
        }
        var upTo = DocumentKey.max
        var bound = 0.0
        for segment in segments {
            upTo = min(upTo, try segment.shallow(to: target))
            guard segment.isInBlock else { continue }
            inRange.append(segment)
            bound = max(bound, try self.bound(of: segment, score))
        }
        if document < target { approach() }
        return (upTo, bound, !inRange.isEmpty)
    }

    /// After the segments went to the blocks of a range without being read, makes the only one with documents in the range the current one.
    private func approach() {
        guard inRange.count == 1 else { return }
        current = inRange[0]
        horizon = .max
        for segment in segments where segment !== current && !segment.isAtEnd { horizon = min(horizon, segment.block.first) }
    }

    @inline(__always)
    private func bound(of segment: SegmentCursor, _ score: TermScore) throws -> Double {
        if let known = segment.block.bound { return known }
        let bound = try score.bound(segment.bounds())
        segment.block.bound = bound
        return bound
    }

    /// Calls a closure with the bounds of each block that has documents of the range for which ``bound(from:_:)`` was called; nil for a block without bounds.
    func forEachBounds(_ body: (ImpactLine?) -> Void) throws { for segment in inRange { body(try segment.bounds()) } }

    /// Returns a bound for the score of the term in a document of the range with a length.
    func bound(_ score: TermScore, length: Int) throws -> Double {
        var bound = 0.0
        for segment in inRange { bound = try max(bound, score.bound(segment.bounds(), length: length)) }
        return bound
    }

    /// Adds bounds for the score of the term to sums. Each sum is for the documents of the range whose lengths are between two consecutive ones, or not below the last one.
    /// The polylines of the range have no pairs at other lengths.
    /// - Parameter limit: A bound for all documents of the range.
    func addBounds(_ score: TermScore, atMost limit: Double, at lengths: [Int], to sums: inout [Double]) throws {
        guard inRange.count == 1, let line = try inRange[0].bounds() else {
            if inRange.isEmpty { return }
            for index in sums.indices { sums[index] += limit }
            return
        }
        // Between two of these lengths the score of the term is monotone.
        var low = 0.0
        for (index, length) in lengths.enumerated() {
            let high = score.bound(line, length: length)
            if index > 0 { sums[index - 1] += min(limit, max(low, high)) }
            low = high
        }
        sums[sums.count - 1] += min(limit, low)
    }

    /// A Boolean value that indicates whether the current block has bounds of scores.
    var hasBounds: Bool { current.block.impactCount > 0 }

    /// Returns whether the bounds of the current block hold for the current document, whose length is known.
    func isBounded(length: Int) throws -> Bool {
        guard let line = try current.bounds() else { return true }
        // The margin is for the rounding between two pairs.
        return Double(try current.total()) <= line.frequency(at: length) * (1 + 1e-9)
    }

    /// Returns a bound for the score of the term in the current document, without its length.
    func currentBound(_ score: TermScore) throws -> Double { try score.bound(current.bounds(), frequency: current.total()) }

    /// Returns a bound for the score of the term in the current document, whose length is known.
    func currentPart(_ score: TermScore, length: Int) throws -> Double { score.part(Double(try current.total()), Double(length)) }

    /// The bounds of the current block if it alone has documents of the range for which bounds were requested; the inner value is nil if it has none.
    func onlyLine() throws -> ImpactLine?? {
        guard inRange.count == 1, inRange[0] === current, current.block.last < horizon else { return nil }
        return .some(try current.bounds())
    }

    /// Goes to the first document from the current one on that has a number of occurrences or more. The documents up to a last one are in the current block alone.
    /// - Returns: False if there is none. Then only ``skip(to:)`` or ``bound(from:_:)`` for a document after the last one may follow.
    func findInBlock(frequency: Int, upTo last: DocumentKey) throws -> Bool {
        while true {
            guard try current.find(frequency, upTo: last) else { return false }
            if try !isMasked || occursInMask() {
                document = current.document
                return true
            }
            guard current.document < last else { return false }
            try current.next()
        }
    }

    private func occursInMask() throws -> Bool {
        var occurs = false
        try current.forEachField { field, _ in if mask >> UInt64(field) & 1 != 0 { occurs = true } }
        return occurs
    }

    override func forEachField(_ body: (Int, Int) throws -> Void) throws {
        guard isMasked else { return try current.forEachField(body) }
        try current.forEachField { field, count in if mask >> UInt64(field) & 1 != 0 { try body(field, count) } }
    }

    override func appendPositions(to list: PositionList) throws {
        guard isMasked else { return try current.appendPositions(to: list) }
        let start = list.count
        try current.appendPositions(to: list)
        var kept = start
        for place in start..<list.count where mask >> (list[place] >> 32) & 1 != 0 {
            list.start[kept] = list[place]
            kept += 1
        }
        list.truncate(kept)
    }
}
