import PolyStoreCollections
import SeededRandom
import Testing

/// The byte ranges of rows, compared with a dictionary.
@Suite struct RowRangesTests {
    @Test(arguments: [1, 2, 3] as [UInt64]) func findsWhatWasSetLast(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (ranges, expected) = (RowRanges(), [Int64: RowRanges.Range]())
        // Few ids, which are replaced often; consecutive ones; and any.
        let draws: [(inout SplitMix64) -> Int64] = [
            { Int64($0.below(50)) }, { 1 << 40 + Int64($0.below(3000)) }, { Int64(bitPattern: $0.next()) },
        ]
        for step in 0..<6000 {
            let rowID = step == 0 ? .min : step == 1 ? .max : step == 2 ? 0 : random.pick(draws)(&random)
            let range = (offset: step * 7, count: random.below(3))
            ranges.set(rowID, offset: range.offset, count: range.count)
            ranges.set(rowID, offset: range.offset, count: range.count)
            expected[rowID] = ranges[rowID]
            #expect(ranges[rowID]?.offset == range.offset && ranges[rowID]?.count == range.count)
            #expect(ranges.count == expected.count)
        }
        for (rowID, range) in expected { #expect(ranges[rowID] == range) }
        for _ in 0..<1000 {
            let rowID = Int64(bitPattern: random.next())
            #expect(ranges[rowID] == expected[rowID])
        }
    }

    @Test func emptyOnesHaveNoRow() {
        #expect(RowRanges()[0] == nil)
        #expect(RowRanges().count == 0)
    }
}
