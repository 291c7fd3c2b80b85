import PolyStoreSearch
import PolyStoreSearchIndex
import SeededRandom
import TestSupport
import Testing

/// An index, the model of it, and the writer of a transaction.
final class SearchIndexSubject {
    let fields: Int
    let map = PageMap()
    let limits: SearchIndexLimits
    var model: SearchModel
    private(set) var writer: SearchIndexWriter

    init(fields: Int, limits: SearchIndexLimits = .small) {
        self.fields = fields
        self.limits = limits
        model = SearchModel(fields: fields)
        writer = SearchIndexWriter(map, fields: fields, options: SearchOptions(), limits: limits)
    }

    func reopen() { writer = SearchIndexWriter(map, fields: fields, options: SearchOptions(), limits: limits) }

    var reader: SearchIndexReader { SearchIndexReader(map, fields: fields, limits: limits) }

    func replace(_ document: Int64, _ new: [String?]?) throws {
        try writer.replace(document, old: model.documents[document], new: new)
        model.documents[document] = new
    }

    /// Compares a search with the model, with all scores to the bit.
    func compare(_ search: ResolvedSearch, weights: [Double], limit: Int) throws {
        let reader = reader
        let statistics = try reader.statistics(search) {}
        #expect(statistics == model.statistics(search), "\(search)")
        let expected = model.all(search, weights: weights)
        let hits = try reader.all(search, scoredBy: statistics, weights: weights) {}
        #expect(hits.documents == expected.map(\.document), "\(search)")
        #expect(hits.scores.map(\.bitPattern) == expected.map(\.score.bitPattern), "\(search)")
        #expect(try self.reader.all(search, scoredBy: nil, weights: weights) {}.documents == hits.documents)
        let best = try self.reader.best(limit, search, scoredBy: statistics, weights: weights) {}
        let ranked = expected.sorted { ($1.score, $0.document) < ($0.score, $1.document) }.prefix(limit)
        #expect(best.documents == ranked.map(\.document), "\(search)")
        #expect(best.scores.map(\.bitPattern) == ranked.map(\.score.bitPattern), "\(search)")
    }
}

extension SearchIndexLimits {
    /// Limits with which few documents fill many pages and segments.
    static var small: SearchIndexLimits {
        var limits = SearchIndexLimits()
        limits.page = 120
        limits.block = 3
        limits.impacts = 2
        limits.inlinePositions = 10
        limits.memory = 6_000
        limits.fanout = 3
        limits.segments = 8
        limits.cache = 2_000
        limits.list = 20
        return limits
    }

    static func random(_ random: inout SplitMix64) -> SearchIndexLimits {
        var limits = small
        limits.page = random.pick([60, 120, 300, 4_064])
        limits.block = random.pick([1, 2, 3, 8, 128])
        limits.impacts = random.pick([1, 2, 4])
        limits.inlinePositions = random.pick([0, 3, 10, 100, 768])
        limits.memory = random.pick([1_500, 6_000, 1 << 20])
        limits.fanout = random.pick([2, 3, 6])
        limits.segments = random.pick([4, 8, 40])
        limits.list = random.pick([0, 20, 1 << 20])
        limits.prefixTerms = random.pick([0, 2, 64])
        limits.prefixPostings = random.pick([1, 4, 256])
        limits.prefixCursors = random.pick([0, 3, 1_024])
        return limits
    }
}

@Suite struct SearchIndexTests {
    @Test func costsBeginAtZero() { #expect(SearchCosts().scored == 0) }

    @Test(arguments: [1, 2, 3, 64]) func randomChangesAreFoundAsInTheModel(fields: Int) throws {
        for seed in 0..<UInt64(Ring.size(fields == 64 ? 1 : 3, thorough: fields == 64 ? 2 : 12)) {
            var samples = SearchSamples(seed: seed, fields: fields)
            let subject = SearchIndexSubject(fields: fields, limits: .random(&samples.random))
            for step in 0..<120 {
                let document = samples.document()
                switch samples.random.below(10) {
                case 0, 1: try subject.replace(document, nil)
                case 2: try subject.writer.flush()
                case 3:
                    try subject.writer.flush()
                    subject.reopen()
                default: try subject.replace(document, samples.texts())
                }
                guard step % 10 == 9 else { continue }
                try subject.writer.flush()
                let weights =
                    samples.random.once(in: 2) ? [Double](repeating: 1, count: fields) : (0..<fields).map { Double($0) * 0.7 + 0.1 }
                for _ in 0..<3 { try subject.compare(samples.search(), weights: weights, limit: samples.random.pick([1, 3, 10, 100])) }
            }
        }
    }
}
