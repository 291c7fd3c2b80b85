/// A SplitMix64 generator with a seed, so that a case can be repeated.
public struct FuzzRandom: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator whose numbers depend on the seed only.
    public init(seed: UInt64) { state = seed }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 to `limit - 1`.
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }

    /// Returns true with a probability of 1 in `count`.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }

    mutating func pick<T>(_ values: [T]) -> T { values[below(values.count)] }
}
