/// Normalization form C of the marks that folding keeps. Canonically equivalent words have the same term.
struct ScalarComposition: Sendable {
    /// Characters of one combining class other than 0.
    struct CombiningRun: Sendable {
        var range: Range<UInt32>
        var combiningClass: UInt32
    }

    static let shared = ScalarComposition()
    /// The runs, ascending.
    static let combiningRuns: [CombiningRun] = {
        var numbers = UnicodeNumbers(UnicodeData.combiningClasses)
        var runs: [CombiningRun] = []
        var start: UInt32 = 0
        while let distance = numbers.next(), let length = numbers.next(), let combiningClass = numbers.next() {
            start += distance
            runs.append(CombiningRun(range: start..<(start + length), combiningClass: combiningClass))
            start += length
        }
        return runs
    }()

    /// The characters that can be composed with the one before them.
    static var seconds: Set<UInt32> {
        Set(shared.pairs.keys.map { UInt32(truncatingIfNeeded: $0) }).union(vowels).union(finals)
    }

    // Hangul syllables are computed (https://www.unicode.org/versions/Unicode15.0.0/ch03.pdf, section 3.12).
    private static let syllables: Range<UInt32> = 0xac00..<0xd7a4
    private static let initials: Range<UInt32> = 0x1100..<0x1113
    private static let vowels: Range<UInt32> = 0x1161..<0x1176
    /// The consonants at the end, and before them one position for syllables without.
    private static let finals: Range<UInt32> = 0x11a8..<0x11c3

    /// The composed characters by the first one in the upper and the second one in the lower 32 bits.
    private let pairs: [UInt64: UInt32]
    private let decompositions: [UInt32: (UInt32, UInt32)]

    private init() {
        var numbers = UnicodeNumbers(UnicodeData.compositions)
        var pairs: [UInt64: UInt32] = [:]
        var decompositions: [UInt32: (UInt32, UInt32)] = [:]
        while let first = numbers.next(), let second = numbers.next(), let composed = numbers.next() {
            pairs[UInt64(first) << 32 | UInt64(second)] = composed
            decompositions[composed] = (first, second)
        }
        self.pairs = pairs
        self.decompositions = decompositions
    }

    /// Normalizes characters in UTF-8 in place, whose composed form is not longer.
    /// - Returns: The new number of bytes.
    func normalize(_ text: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
        var scalars: [UInt32] = []
        var offset = 0
        while offset < count {
            let (scalar, length) = UTF8Scalar.decode(text, offset, count)
            decompose(scalar, into: &scalars)
            offset += length
        }
        sort(&scalars)
        var end = 0
        for scalar in compose(scalars) {
            // The composed form of a word is at most as long as the word, except for a few characters that never occur alone.
            if end + UTF8Scalar.length(scalar) > TokenScanner.maximumTermBytes { break }
            end += UTF8Scalar.encode(scalar, text + end)
        }
        return end
    }

    private func decompose(_ scalar: UInt32, into scalars: inout [UInt32]) {
        if let (first, second) = decompositions[scalar] {
            decompose(first, into: &scalars)
            scalars.append(second)
        } else {
            scalars.append(scalar)
        }
    }

    /// Sorts marks that follow one another by their combining class.
    private func sort(_ scalars: inout [UInt32]) {
        var start = 0
        while start < scalars.count {
            var end = start
            while end < scalars.count, Self.combiningClass(scalars[end]) != 0 { end += 1 }
            if end - start > 1 {
                // The sort must be stable: marks of one class keep their order.
                let sorted = scalars[start..<end].enumerated().sorted {
                    let classes = (Self.combiningClass($0.element), Self.combiningClass($1.element))
                    return classes.0 != classes.1 ? classes.0 < classes.1 : $0.offset < $1.offset
                }
                scalars.replaceSubrange(start..<end, with: sorted.map(\.element))
            }
            start = end + 1
        }
    }

    private func compose(_ scalars: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        var starter = -1
        var lastClass: UInt32 = 0
        for scalar in scalars {
            let combiningClass = Self.combiningClass(scalar)
            let isBlocked = starter < 0 || starter < result.count - 1 && lastClass >= combiningClass
            if !isBlocked, let composed = composed(result[starter], scalar) {
                result[starter] = composed
                continue
            }
            result.append(scalar)
            lastClass = combiningClass
            if combiningClass == 0 { starter = result.count - 1 }
        }
        return result
    }

    private func composed(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if Self.initials.contains(first), Self.vowels.contains(second) {
            return Self.syllables.lowerBound + ((first - Self.initials.lowerBound) * 21 + second - Self.vowels.lowerBound) * 28
        }
        if Self.syllables.contains(first), (first - Self.syllables.lowerBound) % 28 == 0, Self.finals.contains(second) {
            return first + second - Self.finals.lowerBound + 1
        }
        return pairs[UInt64(first) << 32 | UInt64(second)]
    }

    /// Returns the combining class of a character that folding keeps.
    static func combiningClass(_ scalar: UInt32) -> UInt32 {
        var low = 0
        var high = combiningRuns.count
        while low < high {
            let middle = (low + high) / 2
            if combiningRuns[middle].range.upperBound <= scalar { low = middle + 1 } else { high = middle }
        }
        return low < combiningRuns.count && combiningRuns[low].range.contains(scalar) ? combiningRuns[low].combiningClass : 0
    }
}
