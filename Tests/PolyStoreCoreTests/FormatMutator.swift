import SeededRandom

/// Mutates the format strings of the table: changes bytes, and inserts, removes, duplicates, exchanges and splices tokens.
struct FormatMutator {
    private var random: SplitMix64
    private let seeds: [[[UInt8]]]
    private let pieces: [[UInt8]]

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let formats = FormatTable.valid.map(\.format) + FormatTable.invalid.map(\.format) + FormatTable.withArguments.map(\.format)
        seeds = formats.map { Self.pieces(Array($0.utf8)) }
        pieces = Array(Set(seeds.joined())).sorted { $0.lexicographicallyPrecedes($1) }
    }

    mutating func next() -> String {
        var format = seeds[random.below(seeds.count)]
        for _ in 0...random.below(3) { mutate(&format) }
        var bytes = Array(format.joined())
        if random.below(4) == 0, !bytes.isEmpty {
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8)) }
        }
        // A `String` replaces invalid UTF-8.
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func mutate(_ format: inout [[UInt8]]) {
        let at = random.below(format.count + 1)
        switch random.below(6) {
        case 0: format.insert(pieces[random.below(pieces.count)], at: at)
        case 1 where at < format.count: format.remove(at: at)
        case 2 where at < format.count: format.insert(format[at], at: at)
        case 3 where at < format.count: format.swapAt(at, random.below(format.count))
        case 4 where at < format.count: format[at] = pieces[random.below(pieces.count)]
        default:
            let other = seeds[random.below(seeds.count)]
            format = Array(format[..<at] + other[random.below(other.count + 1)...])
        }
    }

    /// Returns words, runs of whitespace, and single punctuation characters.
    private static func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        func kind(_ byte: UInt8) -> Int {
            switch byte {
            case 0x80..., UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                0
            case UInt8(ascii: " "): 1
            default: 2
            }
        }
        var result: [[UInt8]] = []
        for byte in bytes {
            if let last = result.last?.last, kind(last) == kind(byte), kind(byte) != 2 {
                result[result.count - 1].append(byte)
            } else {
                result.append([byte])
            }
        }
        return result
    }
}
