/// Pairs of a frequency and a length that bound the scores of the postings of a block.
enum Impacts {
    static let maximum = 4

    /// Returns at most four pairs, ascending by frequency, of which one dominates each of the given ones: its frequency is not lower and its length not greater.
    static func reduced(_ pairs: [(frequency: Int, length: Int)]) -> [(frequency: Int, length: Int)] {
        var result: [(frequency: Int, length: Int)] = []
        var shortest = Int.max
        for pair in pairs.sorted(by: { ($0.frequency, $1.length) > ($1.frequency, $0.length) }) where pair.length < shortest {
            shortest = pair.length
            result.append(pair)
        }
        result.reverse()
        while result.count > maximum { combine(&result) }
        return result
    }

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
