extension Range<Int> {
    /// Returns the first index from which on a condition no longer holds; the upper bound if it holds for all. The condition holds for the first indexes and for no later one.
    ///
    /// Doubles the distance from the lower bound until it passes the place, then searches by halves: the place is often near.
    @inline(__always)
    func place(_ isBefore: (Int) -> Bool) -> Int {
        guard !isEmpty, isBefore(lowerBound) else { return lowerBound }
        var step = 1
        while lowerBound + step < upperBound, isBefore(lowerBound + step) { step *= 2 }
        var (low, high) = (lowerBound + step / 2, Swift.min(lowerBound + step, upperBound))
        while low < high {
            let middle = (low + high) / 2
            if isBefore(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
