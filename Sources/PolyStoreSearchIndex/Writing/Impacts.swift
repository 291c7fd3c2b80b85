/// A frequency and a length that bound postings of a block.
struct Impact: Hashable {
    var frequency: Int
    var length: Int
}

/// The pairs of frequency and length that bound the postings of a block.
///
/// A polyline connects the pairs, and continues at the frequency of the last one. It is an upper bound: no document has more occurrences than the polyline has at the
/// length of the document. A score grows with the frequency and falls with the length. It is monotone along each segment of the polyline, so a pair has the
/// greatest score.
enum Impacts {
    static let maximum = 8

    /// Adds a pair to a list in which no pair dominates another. The list is ascending by frequency and by length.
    ///
    /// A pair dominates every pair whose frequency is not greater and whose length is not lower.
    static func add(_ frequency: Int, _ length: Int, to pairs: inout [Impact]) {
        var place = pairs.count
        while place > 0, pairs[place - 1].frequency >= frequency { place -= 1 }
        // The first pair from here on has the lowest length of those that are at least as frequent.
        if place < pairs.count, pairs[place].length <= length { return }
        var first = place
        while first > 0, pairs[first - 1].length >= length { first -= 1 }
        var last = place
        if last < pairs.count, pairs[last].frequency == frequency { last += 1 }
        pairs.replaceSubrange(first..<last, with: [Impact(frequency: frequency, length: length)])
    }

    /// Removes the pairs below the polyline through the others, and combines neighbors until at most ``maximum`` pairs remain.
    static func reduce(_ pairs: inout [Impact]) {
        straighten(&pairs)
        while pairs.count > maximum { combine(&pairs) }
    }

    /// Removes each pair that is not above the straight line between its neighbors.
    private static func straighten(_ pairs: inout [Impact]) {
        // The products of greater numbers could overflow.
        guard let last = pairs.last, max(last.frequency, last.length) < 1 << 31 else { return }
        var kept: [Impact] = []
        for pair in pairs {
            while kept.count > 1, !isAbove(kept[kept.count - 1], kept[kept.count - 2], pair) { kept.removeLast() }
            kept.append(pair)
        }
        pairs = kept
    }

    private static func isAbove(_ middle: Impact, _ low: Impact, _ high: Impact) -> Bool {
        (middle.frequency - low.frequency) * (high.length - middle.length) > (high.frequency - middle.frequency)
            * (middle.length - low.length)
    }

    /// Combines the two neighbors whose combination is nearest to them. The polyline through the combination is not below the one through the two.
    private static func combine(_ pairs: inout [Impact]) {
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
