import PolyStoreSearch

/// Goes through the documents that have phrases near each other in one field.
final class NearCursor: DocumentCursor {
    private let phrases: [PhraseCursor]
    private let lengths: [Int]
    private let distance: Int
    private let conjunction: AndCursor
    /// For each phrase the fields and the numbers of its occurrences near the others.
    private var counts: [[(field: Int, count: Int)]] = []

    init(_ phrases: [PhraseCursor], lengths: [Int], distance: Int) throws {
        self.phrases = phrases
        self.lengths = lengths
        self.distance = min(max(distance, 0), Int(UInt32.max))
        conjunction = try AndCursor(phrases)
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

    private func match() throws -> Bool {
        counts = phrases.map { _ in [] }
        let places = try phrases.map { phrase in
            let list = PositionList()
            try phrase.appendPositions(to: list)
            return list.array
        }
        var isFound = false
        for field in Set(places[0].map { $0 >> 32 }).sorted() {
            let positions = places.map { list in list.filter { $0 >> 32 == field }.map { Int($0 & 0xffff_ffff) } }
            guard let near = SearchPositions.near(positions, lengths: lengths, distance: distance) else { continue }
            isFound = true
            for (index, found) in near.enumerated() { counts[index].append((Int(field), found.count)) }
        }
        return isFound
    }

    /// Calls a closure with the fields of a phrase and the numbers of its occurrences in the current document.
    func forEachField(of index: Int, _ body: (Int, Int) throws -> Void) rethrows {
        for (field, count) in counts[index] { try body(field, count) }
    }
}
