/// Finds longest increasing subsequences, by patience sorting.
package enum IncreasingSubsequence {
    /// Returns the indexes, ascending, of the elements of a longest strictly increasing subsequence of `values`. Takes O(n log n) time.
    @inlinable
    package static func indexes<Value: Comparable>(of values: [Value]) -> [Int] {
        // `tails[k]` is the index of the smallest value that ends an increasing subsequence of k + 1 elements.
        var tails: [Int] = []
        var previous = [Int](repeating: -1, count: values.count)
        for (index, value) in values.enumerated() {
            var length = tails.count
            // Appending to the longest subsequence is the common case because lists mostly keep their order.
            if let last = tails.last, !(values[last] < value) { length = (0..<tails.count).partition { values[tails[$0]] < value } }
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
}
