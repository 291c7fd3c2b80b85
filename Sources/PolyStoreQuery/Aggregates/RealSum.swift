import PolyStoreBackend

/// A sum of reals with twice their precision, which makes it nearly independent of their order (Knuth, "The Art of Computer Programming", volume 2, 4.2.2).
struct RealSum {
    private var sum = 0.0
    private var error = 0.0
    /// The sum of values so large that a few of them could overflow, divided by 2^64.
    private var huge = 0.0
    private var hugeError = 0.0

    init() {}

    @inline(__always)
    mutating func add(_ value: Double) {
        if value.magnitude < 0x1p960 || !value.isFinite {
            Self.add(value, &sum, &error)
        } else {
            Self.add(value * 0x1p-64, &huge, &hugeError)
        }
    }

    @inline(__always)
    private static func add(_ value: Double, _ sum: inout Double, _ error: inout Double) {
        let new = sum + value
        let virtual = new - sum
        error += (sum - (new - virtual)) + (value - virtual)
        sum = new
    }

    var total: Double {
        // The error terms of an infinite or NaN sum are meaningless.
        guard sum.isFinite else { return sum }
        let small = sum + error
        let great = huge + hugeError
        return great == 0 ? small : (great + small * 0x1p-64) * 0x1p64
    }
}
