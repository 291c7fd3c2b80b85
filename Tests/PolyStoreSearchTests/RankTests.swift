import Foundation
import PolyStoreSearch
import SeededRandom
import Testing

/// BM25 and its logarithm.
@Suite struct RankTests {
    /// Compares with the logarithm of the platform, which has an error of less than 1 unit in the last place itself.
    private func expectNear(_ value: Double) {
        let (own, platform) = (NaturalLogarithm.of(value), log(value))
        if own != platform { #expect(abs(own - platform) <= platform.magnitude.ulp, "\(value): \(own), \(platform)") }
    }

    @Test func theLogarithmDiffersFromThePlatformsByOneUnitAtMost() {
        var random = SplitMix64(seed: 36)
        for _ in 0..<30_000 {
            let documents = Double(random.below(1_000_000))
            let hits = Double(random.below(1_000_000))
            expectNear((documents + 0.5) / (hits + 0.5))
            expectNear(Double(bitPattern: random.next() & 0x7fff_ffff_ffff_ffff).isFinite ? Double(bitPattern: random.next() >> 2) : 1)
            expectNear(1 + (Double(random.below(2_000_000)) - 1_000_000) * 1e-7)
        }
        for value in [
            1, 2, 0.5, 2.0.squareRoot(), 0.5.squareRoot(), 1.0.nextUp, 1.0.nextDown, .leastNonzeroMagnitude, .leastNormalMagnitude,
            .greatestFiniteMagnitude,
        ] {
            expectNear(value)
        }
        #expect(NaturalLogarithm.of(0) == -.infinity)
        #expect(NaturalLogarithm.of(-1).isNaN && NaturalLogarithm.of(.nan).isNaN)
        #expect(NaturalLogarithm.of(.infinity) == .infinity)
    }

    @Test func theLogarithmHasTheseBits() {
        // Other platforms and releases must compute the same bits.
        let expected: [(Double, UInt64)] = [
            (0.25, 13_832_294_170_795_588_079), (0.3, 13_831_473_067_500_349_217), (0.75, 13_822_226_076_269_861_778),
            (1.0000001, 4_502_148_214_114_968_722), (1.3, 4_598_397_954_332_670_428), (1.4142135623730951, 4_599_914_934_686_071_280),
            (3.0, 4_607_626_529_066_517_258), (9.5, 4_612_251_877_252_670_641), (81.45, 4_616_639_966_009_827_047),
            (12345.678, 4_621_493_204_086_758_961), (999999.5, 4_623_967_058_798_380_985), (1e-06, 13_847_339_095_934_631_840),
            (1e+300, 4_649_287_341_619_838_901),
        ]
        for (value, bits) in expected {
            #expect(NaturalLogarithm.of(value).bitPattern == bits, "\(value): \(NaturalLogarithm.of(value).bitPattern)")
        }
    }

    @Test func scoresAreThoseOfTheFormula() throws {
        let options = SearchOptions()
        let search = try Search("a OR \"b c\" -d").resolved(fields: ["t", "u"], options: options)
        let rank = SearchRank(SearchStatistics(documents: 100, tokens: 1_000, frequencies: [10, 3, 0]), weights: [2, 1])
        let match = try #require(SearchMatcher(search, options).match(["a b c a", "b c x"]))
        func part(_ hits: Double, _ frequency: Double) -> Double {
            log((100 - hits + 0.5) / (hits + 0.5)) * ((frequency * 2.2) / (frequency + 1.2 * (0.25 + 0.75 * 7 / 10)))
        }
        let expected = part(10, 4) + part(3, 3)
        #expect(abs(match.score(rank, search) - expected) < 1e-12)
    }

    @Test func commonTermsAndStrangeCountsGiveSmallScores() throws {
        let counts = [0, 1, -1, 5, Int.max, Int.min]
        for documents in counts {
            for tokens in counts {
                let rank = SearchRank(SearchStatistics(documents: documents, tokens: tokens, frequencies: counts), weights: [1])
                for phrase in -1...counts.count {
                    for length in counts { _ = rank.part(phrase, frequency: 1, length: length) }
                }
            }
        }
        let rank = SearchRank(SearchStatistics(documents: 10, tokens: 100, frequencies: [9]), weights: [1])
        let score = rank.part(0, frequency: 1, length: 10)
        #expect(score > 0 && score < 1e-5)
        #expect(SearchMatch(occurrences: [[1, 1], []], length: 2).score(rank, ResolvedSearch(phrases: [], root: .nothing)) >= 0)
        let more = SearchRank(SearchStatistics(documents: 10, tokens: 100, frequencies: [9]), weights: [1, 1, 1])
        #expect(SearchMatch(occurrences: [[1]], length: 2).score(more, ResolvedSearch(phrases: [], root: .nothing)) > 0)
    }
}
