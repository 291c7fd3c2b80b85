import PolyStoreSearch

/// Bounds of what a term adds to scores.
struct TermScore {
    let rank: SearchRank
    let phrase: Int
    /// The greatest weight of a field.
    let weight: Double
    /// A bound for every document.
    let limit: Double

    init(_ rank: SearchRank, _ phrase: Int) {
        self.rank = rank
        self.phrase = phrase
        weight = rank.weights.max() ?? 0
        limit = rank.part(phrase, frequency: 1e15, length: 0)
    }

    /// Returns a bound for the postings that some impacts dominate.
    func bound(_ impacts: [(frequency: Int, length: Int)]) -> Double {
        guard !impacts.isEmpty else { return limit }
        return impacts.reduce(0) { max($0, part($1.frequency, $1.length)) }
    }

    /// Returns a bound for a posting with a number of occurrences among those that some impacts dominate.
    @inline(__always)
    func bound(_ impacts: [(frequency: Int, length: Int)], frequency: Int) -> Double {
        for pair in impacts where pair.frequency >= frequency { return part(frequency, pair.length) }
        return limit
    }

    /// What a number of occurrences in the field of the greatest weight adds.
    @inline(__always)
    func part(_ frequency: Int, _ length: Int) -> Double {
        rank.part(phrase, frequency: weight * Double(frequency), length: length)
    }
}

/// Finds the best documents of a search for terms that are joined by AND or by OR, without computing the score of each document.
///
/// Documents are visited in ascending order, so one whose score equals the lowest of the best is not among them, and is skipped. Bounds are compared with a margin that is far
/// greater than the error of a sum of floating-point numbers.
final class TermSearch {
    private struct Term {
        let cursor: TermCursor
        let score: TermScore
        var bound = 0.0
        /// The greatest number of occurrences in a document of the range.
        var frequency = 0
    }

    private let lengths: LengthReader
    private var terms: [Term] = []
    private let requiresAll: Bool
    private let scorer: DocumentScorer
    private var hasNone = false

    /// Creates a search. Returns nil if it is not for terms alone or the weights give no bounds.
    init?(_ search: ResolvedSearch, _ rank: SearchRank, _ compiler: SearchCompiler) throws {
        guard rank.weights.allSatisfy({ $0 >= 0 && $0 < 1e9 }), let (phrases, requiresAll) = Self.phrases(search) else { return nil }
        lengths = compiler.source.lengths
        var cursors: [Int: PhraseCursor] = [:]
        for index in phrases {
            let cursor = try compiler.phrase(search.phrases[index])
            cursors[index] = cursor
            guard let term = cursor as? TermCursor, !term.isAtEnd else {
                if !cursor.isAtEnd { return nil }
                hasNone = hasNone || requiresAll
                continue
            }
            terms.append(Term(cursor: term, score: TermScore(rank, index)))
        }
        self.requiresAll = requiresAll
        terms.sort { $0.cursor.estimate < $1.cursor.estimate }
        scorer = try DocumentScorer(search, rank, compiler, sharing: cursors)
    }

    /// The phrases of a search for terms, and whether all must occur.
    private static func phrases(_ search: ResolvedSearch) -> ([Int], requiresAll: Bool)? {
        let parts: [ResolvedSearch.Node]
        var requiresAll = true
        switch search.root {
        case .phrase: parts = [search.root]
        case .and(let all): parts = all
        case .or(let any): (parts, requiresAll) = (any, false)
        default: return nil
        }
        var phrases: [Int] = []
        for part in parts {
            guard case .phrase(let index) = part, !phrases.contains(index), search.phrases[index].terms.count == 1,
                !search.phrases[index].isPrefix
            else { return nil }
            phrases.append(index)
        }
        return phrases.isEmpty ? nil : (phrases, requiresAll)
    }

    /// Finds the documents. Returns the number of those whose score was computed.
    func run(_ best: inout BestDocuments, _ check: () throws -> Void) throws -> Int {
        guard !terms.isEmpty, !hasNone else { return 0 }
        var target: DocumentKey = 0
        var steps = 0
        while true {
            let (upTo, isHopeful) = try bounds(from: target, best.threshold)
            if isHopeful {
                let found =
                    requiresAll
                    ? try runAll(from: target, upTo, &best, &steps, check) : try runAny(from: target, upTo, &best, &steps, check)
                if !found { break }
            }
            guard upTo < .max else { break }
            target = upTo + 1
            steps += 1
            if steps & 255 == 0 { try check() }
        }
        return scorer.scored
    }

    @inline(__always)
    private static func isHopeless(_ bound: Double, _ threshold: Double?) -> Bool {
        guard let threshold else { return false }
        return bound * (1 + 1e-9) <= threshold
    }

    /// Computes the bounds of the terms from a document on. Returns the last document for which they hold, and whether one can be among the best.
    private func bounds(from target: DocumentKey, _ threshold: Double?) throws -> (upTo: DocumentKey, isHopeful: Bool) {
        var upTo = DocumentKey.max
        var sum = 0.0
        for index in terms.indices {
            let (last, bound, frequency, occurs) = try terms[index].cursor.bound(from: target, terms[index].score)
            terms[index].bound = bound
            terms[index].frequency = frequency
            // Without a required term none of the documents up to its next block can be found; the other terms need no look at theirs.
            if requiresAll, !occurs { return (last, false) }
            upTo = min(upTo, last)
            sum += bound
        }
        return (upTo, !Self.isHopeless(sum, threshold))
    }

    /// Visits the documents of a range that have all terms. Returns false at the end of the index.
    private func runAll(
        from first: DocumentKey, _ upTo: DocumentKey, _ best: inout BestDocuments, _ steps: inout Int, _ check: () throws -> Void
    ) throws -> Bool {
        let lead = terms[0]
        let others = terms.dropFirst()
        let othersBound = others.reduce(0) { $0 + $1.bound }
        try lead.cursor.skip(to: first)
        search: while !lead.cursor.isAtEnd, lead.cursor.document <= upTo {
            steps += 1
            if steps & 4_095 == 0 { try check() }
            let document = lead.cursor.document
            if let threshold = best.threshold {
                var isHopeless = Self.isHopeless(try lead.cursor.currentBound(lead.score) + othersBound, threshold)
                if !isHopeless {
                    let length = Int(try lengths.length(document))
                    var bound = try lead.cursor.currentPart(lead.score, length: length)
                    for other in others { bound += min(other.bound, other.score.part(other.frequency, length)) }
                    isHopeless = Self.isHopeless(bound, threshold)
                }
                if isHopeless {
                    try lead.cursor.next()
                    continue
                }
            }
            for other in others {
                try other.cursor.skip(to: document)
                if other.cursor.isAtEnd { return false }
                if other.cursor.document != document {
                    try lead.cursor.skip(to: other.cursor.document)
                    continue search
                }
            }
            best.add(document, try scorer.score(document))
            try lead.cursor.next()
        }
        return !lead.cursor.isAtEnd
    }

    /// Visits the documents of a range that have any of the terms. Returns false at the end of the index.
    ///
    /// Terms whose bounds together do not suffice cannot bring a document among the best alone: only the documents of the others are visited.
    private func runAny(
        from first: DocumentKey, _ upTo: DocumentKey, _ best: inout BestDocuments, _ steps: inout Int, _ check: () throws -> Void
    ) throws -> Bool {
        let order = terms.sorted { $0.bound < $1.bound }
        var weak = 0
        var weakBound = 0.0
        func weaken(_ threshold: Double?) {
            while weak < order.count, Self.isHopeless(weakBound + order[weak].bound, threshold) {
                weakBound += order[weak].bound
                weak += 1
            }
        }
        weaken(best.threshold)
        for term in order[weak...] { try term.cursor.skip(to: first) }
        while true {
            steps += 1
            if steps & 4_095 == 0 { try check() }
            var document = DocumentKey.max
            var isFound = false
            for term in order[weak...] where !term.cursor.isAtEnd && term.cursor.document <= min(document, upTo) {
                document = term.cursor.document
                isFound = true
            }
            guard isFound else { return true }
            var bound = weakBound
            for term in order[weak...] where !term.cursor.isAtEnd && term.cursor.document == document {
                bound += try term.cursor.currentBound(term.score)
            }
            if let threshold = best.threshold, !Self.isHopeless(bound, threshold) {
                let length = Int(try lengths.length(document))
                bound = 0
                for term in order[..<weak] { bound += min(term.bound, term.score.part(term.frequency, length)) }
                for term in order[weak...] where !term.cursor.isAtEnd && term.cursor.document == document {
                    bound += try term.cursor.currentPart(term.score, length: length)
                }
            }
            if !Self.isHopeless(bound, best.threshold) {
                best.add(document, try scorer.score(document))
                let before = weak
                weaken(best.threshold)
                // The cursors of terms that became weak remain where they are; scores move them.
                for term in order[before..<weak] where !term.cursor.isAtEnd && term.cursor.document == document { try term.cursor.next() }
            }
            for term in order[weak...] where !term.cursor.isAtEnd && term.cursor.document == document { try term.cursor.next() }
        }
    }
}
