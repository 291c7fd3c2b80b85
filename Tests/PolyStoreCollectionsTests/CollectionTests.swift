import PolyStoreCollections
import SeededRandom
import Testing

/// The collections against arrays that are sorted and searched from the first element to the last.
@Suite struct CollectionTests {
    @Test(arguments: [0, 1, 2, 7, 64])
    func partitionFindsTheFirstIndexThatDoesNotHold(count: Int) {
        for first in 0...count { #expect((0..<count).partition { $0 < first } == first) }
        #expect((count..<count).partition { _ in true } == count)
        #expect((3..<count + 3).partition { _ in false } == 3)
    }

    // MARK: Subsequences

    /// The length of the longest increasing subsequence that ends at each element, by comparing all pairs.
    private func longest(_ values: [Int]) -> Int {
        var lengths: [Int] = []
        for (index, value) in values.enumerated() {
            lengths.append(1 + (values[..<index].indices.filter { values[$0] < value }.map { lengths[$0] }.max() ?? 0))
        }
        return lengths.max() ?? 0
    }

    @Test func subsequencesAreIncreasingAndLongest() {
        var random = SplitMix64(seed: 11)
        for _ in 0..<400 {
            let count = random.below(24)
            // Few different values, so that equal ones are drawn.
            let values = (0..<count).map { _ in random.below(16) }
            let indexes = IncreasingSubsequence.indexes(of: values)
            #expect(zip(indexes, indexes.dropFirst()).allSatisfy { $0 < $1 && values[$0] < values[$1] }, "\(values)")
            #expect(indexes.count == longest(values), "\(values)")
        }
        #expect(IncreasingSubsequence.indexes(of: Array(0..<100)) == Array(0..<100))
        #expect(IncreasingSubsequence.indexes(of: [Int64.max, .min, 0]) == [1, 2])
    }

    // MARK: Block lists

    @Test(arguments: [0, 1, 700, 2_000])
    func aBlockListEqualsASortedArray(start: Int) {
        var random = SplitMix64(seed: UInt64(start))
        var array = (0..<start).map { $0 * 3 }
        var list = BlockList(array)
        func position(_ value: Int) -> BlockList<Int>.Position { list.position { $0 < value } }
        for step in 0..<3_000 {
            let value = random.below(9_000)
            let index = (0..<array.count).partition { array[$0] < value }
            // Grows in the first half and shrinks in the second.
            if random.below(10) < (step < 1_500 ? 7 : 3) || array.isEmpty {
                list.insert(value, at: position(value))
                array.insert(value, at: index)
            } else if index < array.count {
                #expect(list[position(value)] == array[index])
                list.remove(at: position(value))
                array.remove(at: index)
            } else {
                #expect(list[position(value)] == nil)
            }
            guard step % 100 == 0 else { continue }
            let (low, high) = (random.below(9_000), random.below(9_000))
            let between = array.filter { low <= $0 && $0 < high }
            #expect(list.elements(position(low), position(high)) == between)
            #expect(list.count(position(low), position(high)) == between.count)
            #expect(list.prefix(10) == Array(array.prefix(10)))
        }
        #expect(list.elements(list.start, list.end) == array)
        while let last = array.popLast() { list.remove(at: list.position { $0 < last }) }
        #expect(list.start == list.end && list[list.start] == nil && list.prefix(1).isEmpty)
    }

    // MARK: Sums

    @Test func sumsFollowChanges() {
        var random = SplitMix64(seed: 5)
        for size in [0, 1, 2, 5, 33, 100] {
            var counts = (0..<size).map { _ in 1 + random.below(5) }
            var sums = PrefixCounts(counts)
            for _ in 0..<50 where size > 0 {
                let group = random.below(size)
                let change = random.below(6)
                counts[group] += change
                sums.add(change, at: group)
            }
            #expect(sums.counts == counts && sums.total == counts.reduce(0, +))
            for group in 0...size { #expect(sums.sum(before: group) == counts[..<group].reduce(0, +)) }
            let flat = counts.enumerated().flatMap { group, count in (0..<count).map { (group, $0) } }
            for (position, expected) in flat.enumerated() { #expect(sums.group(at: position) == expected) }
        }
    }

    // MARK: Rows in order

    /// The key of a row: some bytes that many rows share, then the row id, so that no key is a prefix of another.
    private func key(_ text: [UInt8], _ rowID: Int64) -> [UInt8] {
        text.flatMap { [$0 + 1] } + [0] + (0..<8).map { UInt8(truncatingIfNeeded: rowID >> Int64(56 - 8 * $0)) }
    }

    @Test(arguments: [1, 20, 300])
    func orderedRowsEqualASortedArray(shared: Int) throws {
        var random = SplitMix64(seed: UInt64(shared))
        var keys: [Int64: [UInt8]] = [:]
        var array: [Int64] = []
        func precedes(_ left: Int64, _ right: Int64) -> Bool { (keys[left] ?? []).lexicographicallyPrecedes(keys[right] ?? []) }
        func draw(_ rowID: Int64) {
            var text = [UInt8](repeating: 7, count: shared)
            if random.once(in: 3) { text[random.below(shared)] = UInt8(random.below(12)) }
            text += (0..<random.below(3)).map { _ in UInt8(random.below(4)) }
            keys[rowID] = key(text, rowID)
        }
        for rowID in Int64(1)...600 {
            draw(rowID)
            array.append(rowID)
        }
        array.sort(by: precedes)
        var loader = OrderedRows.Loader()
        for rowID in array { loader.append(rowID, keys[rowID] ?? []) }
        var rows = loader.finish()
        var next: Int64 = 601
        for step in 0..<2_400 {
            if random.below(10) < (step < 1_000 ? 7 : 2) || array.isEmpty {
                draw(next)
                let new = next
                let index = (0..<array.count).partition { precedes(array[$0], new) }
                array.insert(new, at: index)
                #expect(rows.insert(OrderedRows.Key(new, keys[new] ?? [])) { precedes($0, new) } == index)
                next += 1
            } else {
                let index = random.below(array.count)
                rows.remove(array.remove(at: index))
            }
            guard step % 200 == 0 else { continue }
            try #require(rows[0..<rows.count] == array)
            for rowID in Int64(1)..<next { #expect(rows.position(of: rowID) == array.firstIndex(of: rowID)) }
        }
        #expect(rows.count == array.count && rows[0..<rows.count] == array)
        rows.remove(next + 1)
        for rowID in array.shuffled(using: &random) { rows.remove(rowID) }
        #expect(rows.count == 0 && !rows.contains(1))
        #expect(rows.insert(OrderedRows.Key(5, key([1], 5))) { _ in false } == 0)
        #expect(rows[0] == 5)
    }

    @Test func orderedRowIDsKeepTheirOrder() {
        var random = SplitMix64(seed: 3)
        var array: [Int64] = []
        var rowIDs = OrderedRowIDs()
        for step in 0..<4_000 {
            let rowID = Int64(random.below(300))
            if random.below(10) < (step % 1_000 < 500 ? 7 : 3) {
                #expect(rowIDs.append(rowID) == !array.contains(rowID))
                if !array.contains(rowID) { array.append(rowID) }
            } else {
                #expect(rowIDs.remove(rowID) == array.contains(rowID))
                array.removeAll { $0 == rowID }
            }
            if step % 50 == 0 {
                let found = rowIDs.rowIDs
                #expect(found == array)
            }
            if step % 70 == 0 {
                let position = random.below(array.count + 1)
                let new = [Int64(step) + 1_000, Int64(step) + 1_001]
                rowIDs.insert(new, at: position)
                array.insert(contentsOf: new, at: position)
                let (first, hasSecond) = (rowIDs[position], rowIDs.contains(new[1]))
                #expect(first == new[0] && hasSecond)
            }
            if step % 110 == 0 {
                let start = random.below(array.count)
                let range = start..<min(array.count, start + 3)
                rowIDs.removeSubrange(range)
                array.removeSubrange(range)
            }
            #expect(rowIDs.count == array.count)
        }
        var distinct = OrderedRowIDs([3, 1, 3, 2])
        let (all, first) = (rowIDs.rowIDs, distinct.rowIDs)
        #expect(all == array && first == [3, 1, 2])
    }

    // MARK: Sparse arrays

    private final class Box: Equatable {
        let step: Int

        init(_ step: Int) { self.step = step }

        static func == (left: Box, right: Box) -> Bool { left === right }
    }

    @Test(arguments: [1, 2, 5, 300])
    func aSparseArrayEqualsADictionary(range: Int) {
        var random = SplitMix64(seed: UInt64(range))
        var dictionary: [Int: Box] = [:]
        var array = SparseArray<Box>()
        for step in 0..<2_000 {
            let index = random.below(range)
            let box = Box(step)
            dictionary[index] = box
            array.set(box, at: index)
            let other = random.below(range + 2) - 1
            #expect(array[other] == dictionary[other])
            #expect(array.indexes == dictionary.keys.sorted())
            #expect(array.map(\.object.step) == dictionary.sorted { $0.key < $1.key }.map(\.value.step))
            var found: [Int: Box] = [:]
            array.forEachInAnyOrder { found[$0] = $1 }
            #expect(found == dictionary)
            #expect(!array.isEmpty)
        }
        #expect(SparseArray<Box>().isEmpty)
    }
}
