/// The counts of consecutive groups, with prefix sums: a Fenwick tree.
///
/// Source: P. M. Fenwick, "A New Data Structure for Cumulative Frequency Tables", 1994.
package struct PrefixCounts: Sendable {
    /// The count of each group.
    package private(set) var counts: [Int]
    /// `sums[i]` covers the groups that end at `i`; their number is the lowest set bit of `i + 1`.
    private var sums: [Int]
    package private(set) var total: Int

    package init(_ counts: [Int] = []) {
        self.counts = counts
        sums = counts
        total = counts.reduce(0, +)
        for index in counts.indices {
            let parent = index | (index + 1)
            if parent < sums.count { sums[parent] += sums[index] }
        }
    }

    package mutating func add(_ change: Int, at group: Int) {
        counts[group] += change
        total += change
        var index = group
        while index < sums.count {
            sums[index] += change
            index |= index + 1
        }
    }

    /// Returns the sum of the counts of the groups before a group.
    package func sum(before group: Int) -> Int {
        var sum = 0
        var index = group - 1
        while index >= 0 {
            sum += sums[index]
            index = (index & (index + 1)) - 1
        }
        return sum
    }

    /// Returns the group that contains a position, and the offset within the group. The position must be less than the total.
    package func group(at position: Int) -> (group: Int, offset: Int) {
        var rest = position
        var group = 0
        var step = sums.isEmpty ? 0 : 1 << (Int.bitWidth - 1 - sums.count.leadingZeroBitCount)
        while step > 0 {
            let next = group + step
            if next <= sums.count, sums[next - 1] <= rest {
                rest -= sums[next - 1]
                group = next
            }
            step >>= 1
        }
        return (group, rest)
    }
}
