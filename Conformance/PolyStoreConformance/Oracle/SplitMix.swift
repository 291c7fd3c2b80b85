/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }

    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns `true` with a probability of 1 / `times`.
    mutating func once(in times: Int) -> Bool { next(times) == 0 }

    mutating func pick<T>(_ list: [T]) -> T { list[next(list.count)] }

    /// Returns a number of distinct elements, or all of them if there are fewer, in random order.
    mutating func pick<T>(_ count: Int, of list: [T]) -> [T] {
        var rest = list
        var picked: [T] = []
        while picked.count < count, !rest.isEmpty { picked.append(rest.remove(at: next(rest.count))) }
        return picked
    }
}
