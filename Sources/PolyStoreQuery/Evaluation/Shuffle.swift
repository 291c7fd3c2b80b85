/// The values of `ScalarFunction.shuffle`.
package enum Shuffle {
    /// Returns the output of SplitMix64 at a position of the sequence that starts from a seed; see `ScalarFunction.shuffle`.
    package static func value(of number: Int64, seed: Int64) -> Int64 {
        var bits = UInt64(bitPattern: seed) &+ UInt64(bitPattern: number) &* 0x9e37_79b9_7f4a_7c15
        bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
        return Int64(bitPattern: bits ^ (bits >> 31))
    }
}
