/// A generator with a seed, so that a failure can be repeated: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator whose numbers depend only on the seed.
    package init(seed: UInt64) { state = seed }

    /// Returns the next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Returns a number from 0 to `bound - 1`; 0 if the bound is 0.
    package mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

    /// Returns `true` with a probability of 1 in `count`.
    package mutating func once(in count: Int) -> Bool { below(count) == 0 }

    /// Returns an element of a list, which must not be empty.
    package mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    /// Returns a number of distinct elements, or all of them if there are fewer, in random order.
    package mutating func pick<T>(_ count: Int, of list: [T]) -> [T] {
        var remaining = list
        var picked: [T] = []
        while picked.count < count, !remaining.isEmpty { picked.append(remaining.remove(at: below(remaining.count))) }
        return picked
    }

    /// Returns a number of random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
