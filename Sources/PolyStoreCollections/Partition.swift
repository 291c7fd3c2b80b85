extension Range<Int> {
    /// Returns the first index for which a condition is false, by a binary search. The condition must be true for all earlier and false for all later indexes.
    /// - Returns: The upper bound if the condition is true for all indexes.
    @inlinable
    package func partition(_ holds: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if try holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
