/// The polyline through the pairs that bound the postings of a block; see ``Impacts``.
final class ImpactLine {
    private let pairs: UnsafeMutablePointer<Impact>
    private(set) var count = 0

    init() { pairs = .allocate(capacity: Impacts.maximum) }

    deinit { pairs.deallocate() }

    /// Reads a number of pairs, at most `Impacts.maximum`.
    func read(_ number: Int, _ bytes: ByteReader) throws {
        count = 0
        var reader = bytes
        var previous = Impact(frequency: 0, length: -1)
        for place in 0..<number {
            let frequency = try reader.count(atMost: 1 << 40)
            let pair = Impact(frequency: frequency, length: try reader.count(atMost: Int(UInt32.max)))
            guard pair.frequency > previous.frequency, pair.length > previous.length else {
                throw SearchIndexError.damaged("the bounds of a block are not in order")
            }
            pairs[place] = pair
            previous = pair
        }
        count = number
    }

    subscript(index: Int) -> Impact { pairs[index] }

    /// Returns the pair with the greatest quotient of the frequency and the sum of an offset and the length. The polyline must have a pair.
    @inline(__always)
    func peak(_ offset: Double) -> Impact {
        var best = pairs[0]
        var (frequency, length) = (Double(best.frequency), offset + Double(best.length))
        for index in 1..<max(count, 1) {
            let (nextFrequency, nextLength) = (Double(pairs[index].frequency), offset + Double(pairs[index].length))
            if nextFrequency * length > frequency * nextLength {
                best = pairs[index]
                (frequency, length) = (nextFrequency, nextLength)
            }
        }
        return best
    }

    /// Returns an upper bound for the frequency in documents of a length; 0 if the block has no such document.
    func frequency(at length: Int) -> Double {
        guard count > 0, length >= pairs[0].length else { return 0 }
        var index = count - 1
        while pairs[index].length > length { index -= 1 }
        let low = pairs[index]
        guard index + 1 < count, low.length < length else { return Double(low.frequency) }
        let high = pairs[index + 1]
        let share = Double(length - low.length) / Double(high.length - low.length)
        return Double(low.frequency) + share * Double(high.frequency - low.frequency)
    }

    /// Returns a lower bound for the length of documents with a frequency; nil if the block has no such document.
    @inline(__always)
    func length(at frequency: Int) -> Double? {
        var index = 0
        while index < count, pairs[index].frequency < frequency { index += 1 }
        guard index < count else { return nil }
        let high = pairs[index]
        guard index > 0, frequency < high.frequency else { return Double(high.length) }
        let low = pairs[index - 1]
        let share = Double(frequency - low.frequency) / Double(high.frequency - low.frequency)
        return Double(low.length) + share * Double(high.length - low.length)
    }
}
