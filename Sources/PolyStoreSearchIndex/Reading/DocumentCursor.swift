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
    func nextDocuments(_ limit: Int) throws -> [DocumentKey] {
        var documents: [DocumentKey] = []
        while !isAtEnd, documents.count < limit {
            documents.append(document)
            try next()
        }
        return documents
    }

    /// Keeps those of some ascending documents that the cursor has, and goes to a document that is not below the last of them.
    func retain(_ documents: inout [DocumentKey]) throws {
        var kept = 0
        for document in documents {
            try skip(to: document)
            guard !isAtEnd else { break }
            guard self.document == document else { continue }
            documents[kept] = document
            kept += 1
        }
        documents.removeLast(documents.count - kept)
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
