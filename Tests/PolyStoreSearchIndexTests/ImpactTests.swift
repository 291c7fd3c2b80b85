import PolyStoreSearch
import SeededRandom
import TestSupport
import Testing

@testable import PolyStoreSearchIndex

/// Bounds of blocks of postings.
@Suite struct ImpactTests {
    private static func line(_ pairs: [Impact]) throws -> ImpactLine {
        let buffer = ByteBuffer()
        for pair in pairs {
            buffer.append(varint: pair.frequency)
            buffer.append(varint: pair.length)
        }
        let line = ImpactLine()
        try line.read(pairs.count, buffer.reader)
        withExtendedLifetime(buffer) {}
        return line
    }

    private static func reduced(_ postings: [Impact]) -> [Impact] {
        var pairs: [Impact] = []
        for posting in postings { Impacts.add(posting.frequency, posting.length, to: &pairs) }
        Impacts.reduce(&pairs)
        return pairs
    }

    private static func part(_ impact: Impact, _ offset: Double) -> Double {
        Double(impact.frequency) / (Double(impact.frequency) + offset + Double(impact.length))
    }

    /// Returns whether a polyline does not bound a posting, by its length or by its frequency.
    private static func isAbove(_ posting: Impact, _ line: ImpactLine) -> Bool {
        guard let length = line.length(at: posting.frequency) else { return true }
        return line.frequency(at: posting.length) * (1 + 1e-9) < Double(posting.frequency)
            || length > Double(posting.length) * (1 + 1e-9)
    }

    private static func postings(_ random: inout SplitMix64) -> [Impact] {
        let greatest = random.pick([1, 3, 60, 5_000, Int(UInt32.max) - 1])
        return (0..<1 + random.below(random.pick([1, 5, 128]))).map { _ in
            let length = 1 + random.below(greatest)
            return Impact(frequency: 1 + random.below(random.once(in: 3) ? length : min(length, 1 + length / 10)), length: length)
        }
    }

    @Test func noPostingIsAboveTheLine() throws {
        var random = SplitMix64(seed: 1)
        for _ in 0..<Ring.size(400, thorough: 20_000) {
            let postings = Self.postings(&random)
            let pairs = Self.reduced(postings)
            #expect(!pairs.isEmpty && pairs.count <= Impacts.maximum)
            let line = try Self.line(pairs)
            let above = postings.filter { Self.isAbove($0, line) }
            #expect(above.isEmpty, "\(pairs)")
            for offset in [0.01, 30, 1e4] {
                let peak = Self.part(line.peak(offset), offset) * (1 + 1e-9)
                #expect(postings.allSatisfy { Self.part($0, offset) <= peak }, "\(pairs) \(offset)")
            }
            #expect(line.length(at: (pairs.last?.frequency ?? 0) + 1) == nil)
            #expect(line.frequency(at: (pairs.first?.length ?? 0) - 1) == 0)
        }
    }

    /// Without combined pairs the bound of a block is the greatest score in it.
    @Test func theBoundOfFewPairsIsThatOfAPosting() throws {
        var random = SplitMix64(seed: 2)
        for _ in 0..<Ring.size(200, thorough: 5_000) {
            let postings = Self.postings(&random)
            let pairs = Self.reduced(postings)
            guard pairs.count < Impacts.maximum else { continue }
            let line = try Self.line(pairs)
            for offset in [0.5, 100, 3_000] {
                let greatest = postings.map { Self.part($0, offset) }.max() ?? 0
                #expect(abs(Self.part(line.peak(offset), offset) - greatest) <= 1e-9 * greatest)
            }
        }
    }

    /// In earlier indexes a pair dominates each posting. The polyline through the pairs is an upper bound of the postings too.
    @Test func pairsThatDominateThePostingsBoundThem() throws {
        var random = SplitMix64(seed: 3)
        for _ in 0..<Ring.size(200, thorough: 5_000) {
            let postings = Self.postings(&random)
            var pairs: [Impact] = []
            for posting in postings { Impacts.add(posting.frequency, posting.length, to: &pairs) }
            while pairs.count > 4 {
                let place = random.below(pairs.count - 1)
                pairs[place + 1].length = pairs[place].length
                pairs.remove(at: place)
            }
            let line = try Self.line(pairs)
            let above = postings.filter { Self.isAbove($0, line) }
            #expect(above.isEmpty, "\(pairs)")
        }
    }

    /// Also for polylines that are not concave: of many pairs that were combined, of earlier indexes, and of great lengths.
    @Test func noPostingThatCanBeAmongTheBestHasALowerFrequency() throws {
        var random = SplitMix64(seed: 5)
        for _ in 0..<Ring.size(400, thorough: 20_000) {
            var postings = Self.postings(&random)
            if random.once(in: 2) {
                // Frequencies that grow about as the lengths do, so that many pairs bound them.
                postings = (1...40).map { Impact(frequency: $0, length: $0 * $0 / 3 + 3 * $0 + random.below(1 + 4 * $0)) }
            }
            var pairs = Self.reduced(postings)
            if random.once(in: 3) {
                pairs = []
                for posting in postings { Impacts.add(posting.frequency, posting.length, to: &pairs) }
                while pairs.count > 4 {
                    let place = random.below(pairs.count - 1)
                    pairs[place + 1].length = pairs[place].length
                    pairs.remove(at: place)
                }
            }
            let line = try Self.line(pairs)
            let statistics = SearchStatistics(documents: 1000, tokens: 1000 * random.pick([10, 200, 5_000]), frequencies: [100])
            let term = TermScore(SearchRank(statistics, weights: [1]), 0)
            for posting in postings {
                let threshold = term.part(Double(posting.frequency), Double(posting.length))
                let least = term.leastFrequency(line) { $0 * (1 + 1e-9) >= threshold }
                #expect(least.map { $0 <= posting.frequency } == true, "\(pairs) \(posting) \(String(describing: least))")
            }
        }
    }

    @Test func theBestDocumentIsFoundBehindADentOfTheBounds() throws {
        let lengths = [
            (24, 82), (21, 63), (3, 6), (8, 16), (14, 30), (15, 33), (28, 109), (33, 162), (36, 205), (38, 242), (42, 322),
        ]
        let documents = lengths + Array(repeating: (1, 236), count: 21)
        let subject = SearchIndexSubject(fields: 1, limits: SearchIndexLimits())
        for (number, document) in documents.enumerated() {
            let words = Array(repeating: "term", count: document.0) + Array(repeating: "other", count: document.1 - document.0)
            try subject.replace(Int64(number), [words.joined(separator: " ")])
        }
        try subject.writer.flush()
        let phrase = ResolvedSearch.Phrase(terms: [Array("term".utf8)], isPrefix: false, fields: .max)
        try subject.compare(ResolvedSearch(phrases: [phrase], root: .phrase(0)), weights: [1], limit: 1)
    }

    @Test(arguments: [[3, 9, 3, 12], [5, 9, 4, 12], [3, 9, 4, 9], [0, 1]]) func pairsThatDoNotAscendAreDamage(_ numbers: [Int]) {
        let pairs = stride(from: 0, to: numbers.count, by: 2).map { Impact(frequency: numbers[$0], length: numbers[$0 + 1]) }
        #expect(throws: SearchIndexError.self) { _ = try Self.line(pairs) }
    }

    /// Documents of many lengths: the best are found by scoring few, and are those of the model.
    @Test(arguments: [false, true]) func fewDocumentsAreScored(isAny: Bool) throws {
        var limits = SearchIndexLimits()
        limits.block = 32
        let subject = SearchIndexSubject(fields: 1, limits: limits)
        var random = SplitMix64(seed: 4)
        let count = 2_000
        for document in 0..<count {
            let words = (0..<5 + random.below(60)).map { _ in random.pick(["alpha", "beta", "beta", "gamma", "delta"]) }
            try subject.replace(Int64(document), [words.joined(separator: " ")])
        }
        try subject.writer.flush()
        try subject.writer.optimize()
        let phrases = ["alpha", "beta"].map { ResolvedSearch.Phrase(terms: [Array($0.utf8)], isPrefix: false, fields: .max) }
        let search = ResolvedSearch(phrases: phrases, root: isAny ? .or([.phrase(0), .phrase(1)]) : .and([.phrase(0), .phrase(1)]))
        try subject.compare(search, weights: [1], limit: 10)
        let statistics = try subject.reader.statistics(search) {}
        let costs = try subject.reader.best(10, search, scoredBy: statistics, weights: [1]) {}.costs
        #expect(costs.scored * 5 <= 2 * count, "\(costs.scored) scores")
    }
}
