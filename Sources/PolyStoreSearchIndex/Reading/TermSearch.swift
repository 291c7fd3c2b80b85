import PolyStoreSearch

/// Finds the best documents of a search for terms that are joined by AND or by OR, without computing the score of each document.
///
/// Documents are visited in ascending order, so one whose score equals the lowest of the best is not among them, and is skipped. Bounds are compared with a margin that is far
/// greater than the error of a sum of floating-point numbers.
final class TermSearch {
    private struct Term {
        let cursor: TermCursor
        let score: TermScore
        /// A bound for the documents of the range.
        var bound = 0.0
    }

    private let lengths: LengthReader
    private var terms: [Term] = []
    private let requiresAll: Bool
    private let scorer: DocumentScorer
    private var hasNone = false
    /// The lengths of the pairs in the polylines of the terms.
    private var bends: [Int] = []
    /// Bounds of the scores of documents with lengths between two of these.
    private var sums: [Double] = []

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
                    ? try runLead(terms[0], terms.dropFirst(), from: target, upTo, &best, &steps, check)
                    : try runAny(from: target, upTo, &best, &steps, check)
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
            let (last, bound, occurs) = try terms[index].cursor.bound(from: target, terms[index].score)
            terms[index].bound = bound
            // Without a required term none of the documents up to its next block can be found; the other terms need no look at theirs.
            if requiresAll, !occurs { return (last, false) }
            upTo = min(upTo, last)
            sum += bound
        }
        guard let threshold, !Self.isHopeless(sum, threshold) else { return (upTo, threshold == nil) }
        return try (upTo, terms.count == 1 || !Self.isHopeless(boundByLength(), threshold))
    }

    /// Returns a bound of the sum of the terms for the documents of the range. It is lower than the sum of their bounds where these are from documents of different lengths.
    private func boundByLength() throws -> Double {
        bends.removeAll(keepingCapacity: true)
        for term in terms {
            try term.cursor.forEachBounds { line in
                guard let line else { return }
                for index in 0..<line.count { bends.append(line[index].length) }
            }
        }
        bends.sort()
        sums.removeAll(keepingCapacity: true)
        for _ in bends { sums.append(0) }
        for term in terms { try term.cursor.addBounds(term.score, atMost: term.bound, at: bends, to: &sums) }
        return sums.max() ?? .infinity
    }

    /// Visits the documents of a range that have a term, and all others if these are required. Returns false at the end of the index.
    private func runLead(
        _ lead: Term, _ others: ArraySlice<Term>, from first: DocumentKey, _ upTo: DocumentKey, _ best: inout BestDocuments,
        _ steps: inout Int, _ check: () throws -> Void
    ) throws -> Bool {
        let othersBound = others.reduce(0) { $0 + $1.bound }
        let cursor = lead.cursor
        // Above this threshold the least frequency is known.
        var known: (threshold: Double, frequency: Int)?
        try cursor.skip(to: first)
        search: while !cursor.isAtEnd, cursor.document <= upTo {
            steps += 1
            if steps & 4_095 == 0 { try check() }
            if let threshold = best.threshold {
                if known?.threshold != threshold, let line = try cursor.onlyLine() {
                    let frequency = lead.score.leastFrequency(line) { !Self.isHopeless($0 + othersBound, threshold) }
                    guard let frequency else { return true }
                    known = (threshold, frequency)
                }
                let isHopeless: Bool
                if let known, known.threshold == threshold {
                    guard try cursor.findInBlock(frequency: known.frequency, upTo: upTo) else { return true }
                    isHopeless = try isHopelessByLength(lead, others, threshold)
                } else {
                    let bound = try cursor.currentBound(lead.score) + othersBound
                    isHopeless = try Self.isHopeless(bound, threshold) || isHopelessByLength(lead, others, threshold)
                }
                if isHopeless {
                    guard cursor.document < upTo else { return true }
                    try cursor.next()
                    continue
                }
            }
            let document = cursor.document
            if requiresAll {
                for other in others {
                    try other.cursor.skip(to: document)
                    if other.cursor.isAtEnd { return false }
                    if other.cursor.document != document {
                        try cursor.skip(to: other.cursor.document)
                        continue search
                    }
                }
            }
            best.add(document, try scorer.score(document))
            guard document < upTo else { return true }
            try cursor.next()
        }
        return !requiresAll || !cursor.isAtEnd
    }

    /// Returns whether the current document of a term cannot be among the best because of its frequency and length.
    private func isHopelessByLength(_ lead: Term, _ others: ArraySlice<Term>, _ threshold: Double) throws -> Bool {
        let length = Int(try lengths.length(lead.cursor.document))
        var bound = try lead.cursor.currentPart(lead.score, length: length)
        for other in others { bound += try min(other.bound, other.cursor.bound(other.score, length: length)) }
        return Self.isHopeless(bound, threshold)
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
        if weak == order.count - 1 { return try runLead(order[weak], order[..<weak], from: first, upTo, &best, &steps, check) }
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
                for term in order[..<weak] { bound += try min(term.bound, term.cursor.bound(term.score, length: length)) }
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
