import PolyStoreSearch

/// Computes the scores of documents in ascending order.
final class DocumentScorer {
    private enum Source {
        case phrase(PhraseCursor)
        /// The phrase at an index of a group of phrases that are near each other.
        case near(NearCursor, Int)
        case none
    }

    private let rank: SearchRank
    private let lengths: LengthReader
    private var phrases: [(index: Int, source: Source)] = []
    private let counts: UnsafeMutablePointer<Int>
    private let fields: Int
    /// The number of documents whose score was computed.
    private(set) var scored = 0

    /// Creates a scorer.
    /// - Parameter cursors: Cursors of phrases that the scorer shares with the search.
    init(
        _ search: ResolvedSearch, _ rank: SearchRank, _ compiler: SearchCompiler, sharing cursors: [Int: PhraseCursor] = [:]
    ) throws {
        self.rank = rank
        lengths = compiler.source.lengths
        fields = max(rank.weights.count, 64)
        counts = .allocate(capacity: fields)
        counts.initialize(repeating: 0, count: fields)
        var near: [Int: Source] = [:]
        try Self.addNear(search.root, search, compiler, &near)
        for index in search.ranked where phrases.last?.index != index {
            phrases.append((index, try near[index] ?? .phrase(cursors[index] ?? compiler.phrase(search.phrases[index]))))
        }
    }

    deinit { counts.deallocate() }

    private static func addNear(
        _ node: ResolvedSearch.Node, _ search: ResolvedSearch, _ compiler: SearchCompiler, _ near: inout [Int: Source]
    ) throws {
        switch node {
        case .nothing, .phrase: return
        case .near(let indexes, let distance):
            let cursor = try compiler.near(indexes, distance, search) as? NearCursor
            for (place, index) in indexes.enumerated() { near[index] = cursor.map { .near($0, place) } ?? Source.none }
        case .and(let parts), .or(let parts): for part in parts { try addNear(part, search, compiler, &near) }
        case .excluding(let part, _): try addNear(part, search, compiler, &near)
        }
    }

    /// The number of documents whose lengths are read in one request.
    static let batch = 256

    /// Calls a closure with each of some ascending documents and its score, after their lengths were read in one request.
    func scores(_ documents: [DocumentKey], _ body: (DocumentKey, Double) -> Void) throws {
        try lengths.load(documents, readsAhead: documents.count == Self.batch)
        for document in documents { body(document, try score(document)) }
    }

    /// Returns the score of a document, which must not be below those before.
    func score(_ document: DocumentKey) throws -> Double {
        scored += 1
        let length = try lengths.length(document)
        guard length != LengthChunk.absent else {
            throw SearchIndexError.damaged("document \(document.document) has postings and no length")
        }
        var sum = 0.0
        for (index, source) in phrases {
            let frequency = try self.frequency(source, document)
            if frequency > 0 { sum += rank.part(index, frequency: frequency, length: Int(length)) }
        }
        return sum
    }

    private func frequency(_ source: Source, _ document: DocumentKey) throws -> Double {
        var upper = 0
        switch source {
        case .none: return 0
        case .phrase(let cursor):
            try cursor.skip(to: document)
            guard !cursor.isAtEnd, cursor.document == document else { return 0 }
            try cursor.forEachField { field, count in
                counts[field] = count
                upper = field + 1
            }
        case .near(let cursor, let index):
            try cursor.skip(to: document)
            guard !cursor.isAtEnd, cursor.document == document else { return 0 }
            cursor.forEachField(of: index) { field, count in
                counts[field] = count
                upper = field + 1
            }
        }
        let frequency = rank.frequency { counts[$0] }
        for field in 0..<upper { counts[field] = 0 }
        return frequency
    }
}

/// The best documents found so far.
struct BestDocuments {
    private let limit: Int
    /// A heap with the worst document first: the one with the lowest score, of equal scores the one with the greatest id.
    private var heap: [(score: Double, document: DocumentKey)] = []

    init(_ limit: Int) { self.limit = limit }

    var isFull: Bool { heap.count >= limit }
    /// The score that a document with a greater id must exceed; nil while any document is among the best.
    var threshold: Double? { isFull ? heap.first?.score : nil }

    private static func isWorse(_ left: (score: Double, document: DocumentKey), _ right: (score: Double, document: DocumentKey)) -> Bool {
        left.score != right.score ? left.score < right.score : left.document > right.document
    }

    mutating func add(_ document: DocumentKey, _ score: Double) {
        if !isFull {
            heap.append((score, document))
            var place = heap.count - 1
            while place > 0, Self.isWorse(heap[place], heap[(place - 1) / 2]) {
                heap.swapAt(place, (place - 1) / 2)
                place = (place - 1) / 2
            }
            return
        }
        guard let worst = heap.first, Self.isWorse(worst, (score, document)) else { return }
        heap[0] = (score, document)
        var place = 0
        while true {
            var child = 2 * place + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, Self.isWorse(heap[child + 1], heap[child]) { child += 1 }
            guard Self.isWorse(heap[child], heap[place]) else { return }
            heap.swapAt(child, place)
            place = child
        }
    }

    /// The documents, best first.
    var sorted: [(score: Double, document: DocumentKey)] { heap.sorted { Self.isWorse($1, $0) } }
}
