import SeededRandom

/// Mutates bytes at random.
struct Mutator {
    static let tokens: [[UInt8]] =
        [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud800", "\\udc00", "\\u0000", "\n", "\r", "\r\n", "\t", " ", "null", "true",
            "1e400", "-", "0", "1e",
            "1.", "\"\"", "\"a\":1", "{\"a\":1}", "[[[[", "]]]]", "'", ";", "|", "#", "//", "\u{FEFF}", "é", "\u{1F600}", "data", "items",
            "Infinity",
        ].map { Array($0.utf8) } + [
            [0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0], [0x80], [0x1f, 0x8b],
        ]

    static func mutate(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) {
            let position = random.below(bytes.count + 1)
            let end = min(bytes.count, position + random.below(random.once(in: 4) ? 60 : 6))
            switch random.below(8) {
            case 0 where position < bytes.count: bytes[position] ^= 1 << UInt8(random.below(8))
            case 1 where position < bytes.count: bytes[position] = UInt8(random.below(256))
            case 2: bytes.removeSubrange(position..<end)
            case 3: bytes.insert(contentsOf: Array(bytes[position..<end]), at: random.below(bytes.count + 1))
            case 4 where random.once(in: 3): bytes.removeLast(bytes.count - position)
            case 5 where random.once(in: 20):
                bytes.insert(contentsOf: (0..<600).flatMap { _ in Array("[".utf8) }, at: position)
            default: bytes.insert(contentsOf: random.pick(tokens), at: position)
            }
        }
        return bytes
    }
}
