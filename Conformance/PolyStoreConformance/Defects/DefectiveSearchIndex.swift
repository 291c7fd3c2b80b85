import PolyStoreBackend
import PolyStoreSearch

/// The defects of full-text indexes.
enum SearchDefect: String, Sendable {
    case losesAPosting = "loses the last posting of a segment"
    case keepsFrequencies = "does not decrement the number of objects with a word"
    case shiftsPositions = "decodes all positions of a word but the first one too high"
    case resurrectsDeletions = "drops deletion markers in a merge of the newest segments only"
    case dropsInAMerge = "keeps one of two lists of a word in a merge"
    case keepsLengths = "keeps the length of an object that is updated"
}

/// A full-text index in segments, as simple as possible, with one mistake or none. A copy is a snapshot.
struct DefectiveSearchIndex {
    /// The positions of a word in each field of an object; nil is a deletion marker.
    private typealias Postings = [Int64: [[Int]]?]

    private let index: SearchIndex
    private let defect: SearchDefect?
    /// The segments, the oldest first.
    private var segments: [[[UInt8]: Postings]] = []
    /// The number of objects with each word.
    private var frequencies: [[UInt8]: Int] = [:]
    private var lengths: [Int64: Int] = [:]
    /// A greater number of segments is merged.
    private static let mostSegments = 5

    init(_ index: SearchIndex, _ defect: SearchDefect?) {
        self.index = index
        self.defect = defect
    }

    // MARK: Writing

    /// Writes the changes of a change set as one segment, and merges if there are too many.
    mutating func add(_ changes: [(id: Int64, old: [String?]?, new: [String?]?)]) {
        var segment: [[UInt8]: Postings] = [:]
        for (id, old, new) in changes {
            let (before, after) = (words(old), words(new))
            for word in before.keys where after[word] == nil {
                segment[word, default: [:]].updateValue(nil, forKey: id)
                if defect != .keepsFrequencies { frequencies[word, default: 0] -= 1 }
            }
            for (word, positions) in after {
                segment[word, default: [:]].updateValue(positions, forKey: id)
                if before[word] == nil { frequencies[word, default: 0] += 1 }
            }
            let length = after.values.joined().joined().count
            if new == nil { lengths[id] = nil } else if defect != .keepsLengths || lengths[id] == nil { lengths[id] = length }
        }
        if segment.isEmpty { return }
        segments.append(segment)
        if segments.count > Self.mostSegments { merge() }
    }

    private func words(_ texts: [String?]?) -> [[UInt8]: [[Int]]] {
        var words: [[UInt8]: [[Int]]] = [:]
        let tokenizer = SearchTokenizer(index.options)
        for (field, text) in (texts ?? []).enumerated() {
            for token in tokenizer.tokens(in: text ?? "") {
                words[token.term, default: index.fields.map { _ in [] }][field].append(token.position)
            }
        }
        return words
    }

    /// Merges all segments, or, with the defect, the newest ones as if they were all.
    private mutating func merge() {
        let first = defect == .resurrectsDeletions ? segments.count - 3 : 0
        var merged: [[UInt8]: Postings] = [:]
        for segment in segments[first...] {
            for (word, postings) in segment {
                if defect == .dropsInAMerge {
                    merged[word] = postings
                } else {
                    merged[word, default: [:]].merge(postings) { _, newer in newer }
                }
            }
        }
        // Nothing older is left that a marker would hide.
        merged = merged.mapValues { $0.filter { $0.value != nil } }.filter { !$0.value.isEmpty }
        segments.replaceSubrange(first..., with: [merged])
    }

    // MARK: Reading

    /// Returns the positions of a word in each field of each object.
    private func postings(_ word: [UInt8]) -> [Int64: [[Int]]] {
        var found: Postings = [:]
        for segment in segments {
            var postings = segment[word] ?? [:]
            if defect == .losesAPosting, postings.count > 1, let last = postings.keys.max() { postings.removeValue(forKey: last) }
            found.merge(postings) { _, newer in newer }
        }
        let positions = found.compactMapValues { $0 }
        guard defect == .shiftsPositions else { return positions }
        return positions.mapValues { $0.map { $0.enumerated().map { $0.offset == 0 ? $0.element : $0.element + 1 } } }
    }

    private func postings(_ word: [UInt8], isPrefix: Bool) -> [Int64: [[Int]]] {
        guard isPrefix else { return postings(word) }
        var found: [Int64: [[Int]]] = [:]
        for other in Set(segments.flatMap(\.keys)) where other.starts(with: word) {
            found.merge(postings(other)) { left, right in zip(left, right).map { ($0 + $1).sorted() } }
        }
        return found
    }

    /// Returns the positions of a phrase in each field of each object that contains it.
    private func occurrences(_ phrase: ResolvedSearch.Phrase) -> [Int64: [[Int]]] {
        let words = phrase.terms.enumerated().map { postings($0.element, isPrefix: phrase.isPrefix && $0.offset == phrase.terms.count - 1) }
        var found: [Int64: [[Int]]] = [:]
        for id in words.first?.keys.sorted() ?? [] {
            let positions = index.fields.indices.map { field in
                phrase.fields >> UInt64(field) & 1 == 1 ? SearchPositions.phrase(words.map { $0[id]?[field] ?? [] }) : []
            }
            if positions.contains(where: { !$0.isEmpty }) { found[id] = positions }
        }
        return found
    }

    func statistics(_ search: ResolvedSearch) -> SearchStatistics {
        let ranked = Set(search.ranked)
        let counts = search.phrases.enumerated().map { position, phrase in
            if !ranked.contains(position) { return 0 }
            let isWord =
                phrase.terms.count == 1 && !phrase.isPrefix && index.fields.indices.allSatisfy { phrase.fields >> UInt64($0) & 1 == 1 }
            return isWord ? frequencies[phrase.terms[0]] ?? 0 : occurrences(phrase).count
        }
        return SearchStatistics(documents: lengths.count, tokens: lengths.values.reduce(0, +), frequencies: counts)
    }

    func hits(_ request: SearchRequest) -> SearchHits {
        let search = request.condition.search
        var finder = Finder(search, search.phrases.map { occurrences($0) }, fields: index.fields.count)
        var hits = SearchHits()
        var scored: [(id: Int64, score: Double)] = []
        let rank = request.statistics.map { SearchRank($0, weights: index.weights) }
        for id in lengths.keys.sorted() {
            guard let counts = finder.counts(id) else { continue }
            let match = SearchMatch(occurrences: counts, length: lengths[id] ?? 0)
            scored.append((id, rank.map { match.score($0, search) } ?? 0))
        }
        if let limit = request.limit {
            scored.sort { $0.score != $1.score ? $0.score > $1.score : $0.id < $1.id }
            scored = Array(scored.prefix(limit))
        }
        hits.documents = scored.map(\.id)
        if rank != nil { hits.scores = scored.map(\.score) }
        hits.costs.terms = search.phrases.reduce(0) { $0 + $1.terms.count }
        hits.costs.postings = scored.count
        return hits
    }
}

/// Evaluates a search for one object after another.
private struct Finder {
    private let search: ResolvedSearch
    private let occurrences: [[Int64: [[Int]]]]
    private let ranked: Set<Int>
    private let fields: Int
    private var counts: [[Int]] = []

    init(_ search: ResolvedSearch, _ occurrences: [[Int64: [[Int]]]], fields: Int) {
        self.search = search
        self.occurrences = occurrences
        ranked = Set(search.ranked)
        self.fields = fields
    }

    /// Returns the number of occurrences of each phrase in each field; nil if the object does not satisfy the search.
    mutating func counts(_ id: Int64) -> [[Int]]? {
        counts = search.phrases.indices.map { phrase in
            ranked.contains(phrase) ? (0..<fields).map { occurrences[phrase][id]?[$0].count ?? 0 } : [Int](repeating: 0, count: fields)
        }
        return holds(search.root, id) ? counts : nil
    }

    private mutating func holds(_ node: ResolvedSearch.Node, _ id: Int64) -> Bool {
        switch node {
        case .nothing: return false
        case .phrase(let phrase): return occurrences[phrase][id] != nil
        case .near(let phrases, let distance):
            var isNear = false
            for field in 0..<fields {
                let near = SearchPositions.near(
                    phrases.map { occurrences[$0][id]?[field] ?? [] }, lengths: phrases.map { search.phrases[$0].terms.count },
                    distance: distance)
                if near != nil { isNear = true }
                for (position, phrase) in phrases.enumerated() where ranked.contains(phrase) {
                    counts[phrase][field] = near?[position].count ?? 0
                }
            }
            return isNear
        case .and(let parts): return parts.map { holds($0, id) }.allSatisfy { $0 }
        case .or(let parts): return parts.map { holds($0, id) }.contains(true)
        case .excluding(let part, let other):
            let (isFound, isExcluded) = (holds(part, id), holds(other, id))
            return isFound && !isExcluded
        }
    }
}
