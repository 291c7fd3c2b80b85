import SeededRandom

/// The values of shuffles, from the generator of the tests.
enum OracleShuffle {
    /// Returns the output of the generator that starts from the seed, at a position of its sequence.
    static func value(_ number: Int64, _ seed: Int64) -> Int64 {
        // The state before the output.
        let state = UInt64(bitPattern: seed) &+ UInt64(bitPattern: number &- 1) &* 0x9e37_79b9_7f4a_7c15
        var generator = SplitMix64(seed: state)
        return Int64(bitPattern: generator.next())
    }
}
