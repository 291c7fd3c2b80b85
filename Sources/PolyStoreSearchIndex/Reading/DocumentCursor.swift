/// Goes through documents in ascending order.
class DocumentCursor {
    /// The current document.
    final var document: DocumentKey = 0
    final var isAtEnd = false
    /// An estimate of the number of documents.
    var estimate: Int { 0 }

    /// Goes to the next document.
    func next() throws {}

    /// Goes to the first document that is not below a document.
    func skip(to target: DocumentKey) throws {
        while !isAtEnd, document < target { try next() }
    }

    /// Goes to the document after a document.
    final func skip(past target: DocumentKey) throws {
        if target == .max { isAtEnd = true } else { try skip(to: target + 1) }
    }

    /// Returns the current document and those after it, up to a number, and goes to the document after them.
    final func nextDocuments(_ limit: Int) throws -> [DocumentKey] {
        var documents: [DocumentKey] = []
        while !isAtEnd, documents.count < limit {
            documents.append(document)
            try next()
        }
        return documents
    }
}

/// Goes through the documents with a phrase.
class PhraseCursor: DocumentCursor {
    /// Calls a closure with each field of the current document in which the phrase occurs, ascending, and the number of its occurrences.
    func forEachField(_ body: (Int, Int) throws -> Void) throws {}

    /// Appends the places at which the phrase begins in the current document: the field in the upper half, the position in the lower half, ascending.
    func appendPositions(to list: PositionList) throws {}

    /// Calls a closure with each field of some positions and their number.
    static func forEachField(of list: PositionList, _ body: (Int, Int) throws -> Void) rethrows {
        var start = 0
        while start < list.count {
            let field = list[start] >> 32
            var end = start + 1
            while end < list.count, list[end] >> 32 == field { end += 1 }
            try body(Int(field), end - start)
            start = end
        }
    }
}

/// A cursor without documents.
final class EmptyCursor: PhraseCursor {
    override init() {
        super.init()
        isAtEnd = true
    }
}

/// Goes through the documents with a term, in all segments: of a document the newest posting counts.
final class TermCursor: PhraseCursor {
    /// The segments with the term, newest first.
    private let segments: [SegmentCursor]
    private let mask: UInt64
    private let isMasked: Bool
    private var current: SegmentCursor
    private let isSingle: Bool
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
        isSingle = segments.count == 1
        super.init()
        try settle()
    }

    override var estimate: Int { frequency }

    override func next() throws {
        if isSingle {
            try current.next()
            return try settleSingle()
        }
        for segment in segments where !segment.isAtEnd && segment.document == document { try segment.next() }
        try settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        if isSingle {
            try current.skip(to: target)
            return try settleSingle()
        }
        for segment in segments { try segment.skip(to: target) }
        try settle()
    }

    /// Finds the first document of the only segment that is not a deletion.
    @inline(__always)
    private func settleSingle() throws {
        while !current.isAtEnd {
            if try current.kind() != .deleted, try !isMasked || occursInMask() {
                document = current.document
                return
            }
            try current.next()
        }
        isAtEnd = true
    }

    /// Finds the smallest document of the segments whose newest posting is not a deletion.
    private func settle() throws {
        while true {
            var found: SegmentCursor?
            for segment in segments where !segment.isAtEnd {
                if let best = found, best.document <= segment.document { continue }
                found = segment
            }
            guard let found else {
                isAtEnd = true
                return
            }
            document = found.document
            current = found
            if try found.kind() != .deleted, try !isMasked || occursInMask() { return }
            for segment in segments where !segment.isAtEnd && segment.document == document { try segment.next() }
        }
    }

    /// Returns a bound of what the term adds to the scores of documents from one on, and the last document for which it holds. Also returns whether one of them can have the term.
    ///
    /// Only ``skip(to:)`` for this or a greater document may follow.
    func bound(from target: DocumentKey, _ score: TermScore) throws -> (upTo: DocumentKey, bound: Double, frequency: Int, occurs: Bool) {
        var upTo = DocumentKey.max
        var bound = 0.0
        var frequency = 0
        var occurs = false
        for segment in segments {
            let (last, isInBlock) = try segment.shallow(to: target)
            upTo = min(upTo, last)
            guard isInBlock else { continue }
            occurs = true
            let found = segment.block.bound ?? score.bound(segment.block.impacts)
            segment.block.bound = found
            bound = max(bound, found)
            frequency = max(frequency, segment.block.impacts.last?.frequency ?? Int(UInt32.max))
        }
        return (upTo, bound, frequency, occurs)
    }

    /// A Boolean value that indicates whether the current block has bounds of scores.
    var hasBounds: Bool { !current.block.impacts.isEmpty }

    /// Returns whether the bounds of the current block hold for the current document, whose length is known.
    func isBounded(length: Int) throws -> Bool {
        let total = try current.total()
        return current.block.impacts.contains { $0.frequency >= total && $0.length <= length }
    }

    /// Returns a bound of what the term adds to the score of the current document, without its length.
    func currentBound(_ score: TermScore) throws -> Double { try score.bound(current.block.impacts, frequency: current.total()) }

    /// Returns a bound of what the term adds to the score of the current document, whose length is known.
    func currentPart(_ score: TermScore, length: Int) throws -> Double { score.part(try current.total(), length) }

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

/// Goes through the documents with any of some terms: a prefix.
final class UnionCursor: PhraseCursor {
    /// The cursors as a heap, the smallest document first.
    private var heap: [PhraseCursor]

    init(_ cursors: [PhraseCursor]) {
        heap = cursors.filter { !$0.isAtEnd }
        super.init()
        for place in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(place) }
        settle()
    }

    override var estimate: Int { heap.reduce(0) { $0 + $1.estimate } }

    private func settle() {
        if let first = heap.first { document = first.document } else { isAtEnd = true }
    }

    private func sink(_ start: Int) {
        var place = start
        let moved = heap[place]
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].document < heap[child].document { child += 1 }
            guard heap[child].document < moved.document else { break }
            heap[place] = heap[child]
            place = child
        }
        heap[place] = moved
    }

    private func fix() {
        if heap[0].isAtEnd {
            let last = heap.removeLast()
            if heap.isEmpty { return }
            heap[0] = last
        }
        sink(0)
    }

    override func next() throws {
        try advance {
            try $0.next()
        } until: {
            $0 > document
        }
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        try advance {
            try $0.skip(to: target)
        } until: {
            $0 >= target
        }
    }

    private func advance(_ move: (PhraseCursor) throws -> Void, until isDone: (DocumentKey) -> Bool) throws {
        while let first = heap.first, !isDone(first.document) {
            try move(first)
            fix()
        }
        settle()
    }

    /// Calls a closure with the cursors at the current document.
    private func forEachCurrent(_ body: (PhraseCursor) throws -> Void) rethrows {
        var pending = [0]
        while let place = pending.popLast() {
            guard place < heap.count, heap[place].document == document else { continue }
            try body(heap[place])
            pending.append(2 * place + 1)
            pending.append(2 * place + 2)
        }
    }

    override func forEachField(_ body: (Int, Int) throws -> Void) throws {
        var counts: [(field: Int, count: Int)] = []
        try forEachCurrent { cursor in
            try cursor.forEachField { field, count in
                if let place = counts.firstIndex(where: { $0.field == field }) {
                    counts[place].count += count
                } else {
                    counts.append((field, count))
                }
            }
        }
        for (field, count) in counts.sorted(by: { $0.field < $1.field }) { try body(field, count) }
    }

    override func appendPositions(to list: PositionList) throws {
        let start = list.count
        var sources = 0
        try forEachCurrent { cursor in
            try cursor.appendPositions(to: list)
            sources += 1
        }
        if sources > 1 { list.sort(from: start) }
    }
}

/// Goes through the documents with several terms in a row.
final class SequenceCursor: PhraseCursor {
    private let terms: [PhraseCursor]
    private let conjunction: AndCursor
    private let found = PositionList()
    private let scratch = PositionList()

    init(_ terms: [PhraseCursor]) throws {
        self.terms = terms
        conjunction = try AndCursor(terms)
        super.init()
        try settle()
    }

    override var estimate: Int { conjunction.estimate }

    override func next() throws {
        try conjunction.next()
        try settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        try conjunction.skip(to: target)
        try settle()
    }

    private func settle() throws {
        isAtEnd = try !conjunction.settle(where: match)
        if !isAtEnd { document = conjunction.document }
    }

    /// Finds the places at which the terms follow one another.
    private func match() throws -> Bool {
        found.removeAll()
        try terms[0].appendPositions(to: found)
        for offset in 1..<terms.count {
            guard found.count > 0 else { return false }
            scratch.removeAll()
            try terms[offset].appendPositions(to: scratch)
            found.retain(followedBy: scratch, offset: UInt64(offset))
        }
        return found.count > 0
    }

    override func forEachField(_ body: (Int, Int) throws -> Void) throws { try Self.forEachField(of: found, body) }
    override func appendPositions(to list: PositionList) throws { list.append(found) }
}
