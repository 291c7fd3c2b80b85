import PolyStoreBackend
import SeededRandom
import Testing

@testable import PolyStoreQuery

/// The values of shuffles, compared with the outputs of the generator that the tests use.
@Suite struct ShuffleTests {
    @Test func valuesAreTheOutputsOfTheGenerator() {
        for seed in [0, 1, 42, -1, .min, .max, 1_234_567] as [Int64] {
            var generator = SplitMix64(seed: UInt64(bitPattern: seed))
            for number in 1...1000 as ClosedRange<Int64> {
                #expect(Shuffle.value(of: number, seed: seed) == Int64(bitPattern: generator.next()), "\(number) with seed \(seed)")
            }
        }
        #expect(Shuffle.value(of: 0, seed: 0) == 0)
        #expect(Shuffle.value(of: .min, seed: .min) == 0)
    }

    @Test func differentNumbersHaveDifferentValues() {
        for seed in [0, 42, -1] as [Int64] {
            #expect(Set((-5000...5000 as ClosedRange<Int64>).map { Shuffle.value(of: $0, seed: seed) }).count == 10_001)
        }
    }

    /// Samples of 20 of 200 row ids contain each id about equally often: 500 seeds draw an id 50 times on average.
    @Test func samplesAreUniform() {
        var counts = Array(repeating: 0, count: 200)
        for seed in 1...500 as ClosedRange<Int64> {
            let order = (0..<200).map { ($0, Shuffle.value(of: Int64($0 + 1), seed: seed)) }.sorted { $0.1 < $1.1 }
            for (id, _) in order.prefix(20) { counts[id] += 1 }
        }
        // A count has a binomial distribution with the average 50 and the variance 45. The sum of the squared deviations, divided by the variance, is about the
        // number of ids, 200, with a standard deviation of 20.
        let spread = counts.reduce(0.0) { $0 + (Double($1) - 50) * (Double($1) - 50) } / 45
        #expect(abs(spread - 200) < 100, "\(spread)")
    }
}
