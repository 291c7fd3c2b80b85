/// Finds longest increasing subsequences.
package enum IncreasingSubsequence {
    /// Returns the indexes, ascending, of the elements of a longest strictly increasing subsequence of `values`. Takes O(n log n) time.
    package static func indexes(of values: [Int]) -> [Int] {
        // `tails[k]` is the index of the smallest value that ends an increasing subsequence of k + 1 elements.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (index, value) in values.enumerated() {
            let length = firstTail(in: tails, of: values, notLessThan: value)
            if length > 0 { previous[index] = tails[length - 1] }
            if length == tails.count { tails.append(index) } else { tails[length] = index }
        }
        var found = [Int](repeating: 0, count: tails.count)
        var index = tails.last ?? -1
        for position in found.indices.reversed() {
            found[position] = index
            index = previous[index]
        }
        return found
    }

    private static func firstTail(in tails: [Int], of values: [Int], notLessThan value: Int) -> Int {
        // Appending to the longest subsequence is the common case because lists mostly keep their order.
        guard let last = tails.last, values[last] >= value else { return tails.count }
        var low = 0
        var high = tails.count
        while low < high {
            let middle = (low + high) / 2
            if values[tails[middle]] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
