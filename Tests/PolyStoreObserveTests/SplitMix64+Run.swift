import SeededRandom

extension SplitMix64 {
    /// Creates a generator for one of many runs. Consecutive runs have unrelated sequences.
    init(run: UInt64) { self.init(seed: run &* 0x9e37_79b9_7f4a_7c15 &+ 0x2545_f491_4f6c_dd1d) }
}
