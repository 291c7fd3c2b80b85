/// splitmix64, so that all programs draw the same numbers.
public struct SplitMix64: Sendable {
    @usableFromInline var s: UInt64

    /// Creates a generator from a seed.
    @inlinable public init(seed: UInt64) { s = seed }
    /// Person `id` uses the draws 64 · id ..< 64 · id + 64 of the stream with seed 42, so that each person can be generated independently.
    @inlinable public init(person id: Int64) { s = 42 &+ UInt64(bitPattern: id) &* 64 &* 0x9E37_79B9_7F4A_7C15 }
    /// Creates the generator of a workload.
    @inlinable public init(workload w: Int) { s = 42 &+ UInt64(w) &* 1_000_003 }

    /// Returns 64 random bits.
    @inlinable
    public mutating func next() -> UInt64 {
        s = s &+ 0x9E37_79B9_7F4A_7C15
        var z = s
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    /// Returns a number of 0 ..< n.
    @inlinable public mutating func next(below n: UInt64) -> UInt64 { next() % n }
    /// Returns a number of 0 ..< 1.
    @inlinable public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
