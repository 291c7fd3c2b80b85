/// Pairs of a frequency and a length that bound the scores of the postings of a block.
enum Impacts {
    static let maximum = 4

    /// Adds a pair to a list in which no pair dominates another, ascending by frequency and by length. A pair dominates one whose frequency is not greater and whose length
    /// is not lower.
    static func add(_ frequency: Int, _ length: Int, to pairs: inout [(frequency: Int, length: Int)]) {
        var place = pairs.count
        while place > 0, pairs[place - 1].frequency >= frequency { place -= 1 }
        // The first pair from here on has the lowest length of those that are at least as frequent.
        if place < pairs.count, pairs[place].length <= length { return }
        var first = place
        while first > 0, pairs[first - 1].length >= length { first -= 1 }
        var last = place
        if last < pairs.count, pairs[last].frequency == frequency { last += 1 }
        pairs.replaceSubrange(first..<last, with: [(frequency, length)])
    }

    /// Combines neighbors until there are at most four pairs, which dominate the given ones.
    static func reduce(_ pairs: inout [(frequency: Int, length: Int)]) { while pairs.count > maximum { combine(&pairs) } }

    /// Combines the two neighbors whose combination is nearest to them.
    private static func combine(_ pairs: inout [(frequency: Int, length: Int)]) {
        var best = 0
        var least = Double.infinity
        for index in 0..<pairs.count - 1 {
            let (low, high) = (pairs[index], pairs[index + 1])
            let cost = Double(high.frequency) / Double(low.frequency) * Double(high.length + 1) / Double(low.length + 1)
            if cost < least { (least, best) = (cost, index) }
        }
        pairs[best + 1].length = pairs[best].length
        pairs.remove(at: best)
    }
}
