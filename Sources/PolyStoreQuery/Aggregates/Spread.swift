import PolyStoreBackend

// Incremental standard deviations, and medians.

/// The exact sum and the exact sum of squares of integers.
struct IntegerSpread {
    private var count: UInt128 = 0
    // Cannot overflow: 2^63 rows of the greatest value fit.
    private var sum: Int128 = 0
    private var squares: UInt128 = 0
    /// The number of overflows of ``squares``.
    private var carries: UInt128 = 0

    init() {}

    init(_ values: [Value], isUnsigned: Bool) { for value in values { NumericValue(value, isUnsigned: isUnsigned).map { add($0.asInteger) } } }

    /// - Parameter value: an integer of 64 bits.
    mutating func add(_ value: Int128) {
        count &+= 1
        sum &+= value
        let (total, overflow) = squares.addingReportingOverflow(value.magnitude &* value.magnitude)
        squares = total
        if overflow { carries &+= 1 }
    }

    /// √(n·Σx² − (Σx)²) / n. The difference is computed in 256 bits, so that large values close to each other lose no precision.
    var deviation: Value {
        if count == 0 { return .null }
        var (high, low) = squares.multipliedFullWidth(by: count)
        high &+= carries &* count
        let square = sum.magnitude.multipliedFullWidth(by: sum.magnitude)
        let (difference, borrow) = low.subtractingReportingOverflow(square.low)
        low = difference
        high = high &- square.high &- (borrow ? 1 : 0)
        return .real((Double(high) * 0x1p128 + Double(low)).squareRoot() / Double(count))
    }
}

/// The sums of the differences of reals from the first value, and of their squares, with twice the precision of a real.
///
/// No value is further from the average than √n times the deviation. With the first value as the origin, the squares have the magnitude of the result
/// and there is almost no cancellation.
struct RealSpread {
    private struct Sums {
        var differences = DoubleDouble()
        var squares = DoubleDouble()
        var isUsed = false

        mutating func add(_ difference: DoubleDouble) {
            if difference.high == 0 { return }
            isUsed = true
            differences = differences + difference
            squares = squares + difference * difference
        }

        /// Sums of differences divided by 2^600.
        var reduced: Sums {
            Sums(differences: differences.scaled(0x1p-600), squares: squares.scaled(0x1p-600).scaled(0x1p-600), isUsed: isUsed)
        }

        static func + (left: Sums, right: Sums) -> Sums {
            Sums(
                differences: left.differences + right.differences, squares: left.squares + right.squares,
                isUsed: left.isUsed || right.isUsed)
        }
    }

    private var count = 0.0
    private var isFinite = true
    private var origin: Double?
    // Sums by magnitude, so that no square overflows or underflows: of differences multiplied by 2^600, unscaled, and divided by 2^600.
    private var small = Sums()
    private var middle = Sums()
    private var great = Sums()

    init() {}

    init(_ values: [Value]) { for value in values { value.real.map { add($0) } } }

    mutating func add(_ value: Double) {
        count += 1
        guard value.isFinite else {
            isFinite = false
            return
        }
        guard let origin else {
            self.origin = value
            return
        }
        if max(value.magnitude, origin.magnitude) > 0x1p900 {
            return great.add(DoubleDouble(value * 0x1p-600, minus: origin * 0x1p-600))
        }
        let difference = DoubleDouble(value, minus: origin)
        if difference.high.magnitude < 0x1p-400 {
            small.add(difference.scaled(0x1p600))
        } else if difference.high.magnitude > 0x1p400 {
            great.add(difference.scaled(0x1p-600))
        } else {
            middle.add(difference)
        }
    }

    var deviation: Value {
        if count == 0 { return .null }
        if !isFinite { return .real(.nan) }
        let (sums, scale): (Sums, Double) =
            great.isUsed ? (great + middle.reduced, 0x1p600) : (middle.isUsed ? (middle + small.reduced, 1) : (small, 0x1p-600))
        let squares = sums.squares + (sums.differences * sums.differences).divided(by: -count)
        return .real(max(squares.divided(by: count).high, 0).squareRoot() * scale)
    }
}

/// A real of about 106 bits (Dekker, "A floating-point technique for extending the available precision", 1971).
private struct DoubleDouble {
    var high = 0.0
    var low = 0.0

    init() {}

    private init(_ high: Double, _ low: Double) {
        self.high = high + low
        self.low = low - (self.high - high)
    }

    /// Creates the exact difference of two reals.
    init(_ value: Double, minus other: Double) {
        high = value - other
        let virtual = high - value
        low = (value - (high - virtual)) - (other + virtual)
    }

    static func + (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble {
        let sum = left.high + right.high
        let virtual = sum - left.high
        let error = (left.high - (sum - virtual)) + (right.high - virtual)
        return DoubleDouble(sum, error + (left.low + right.low))
    }

    static func * (left: DoubleDouble, right: DoubleDouble) -> DoubleDouble {
        let product = left.high * right.high
        let error = (-product).addingProduct(left.high, right.high)
        return DoubleDouble(product, error + (left.high * right.low + left.low * right.high))
    }

    func divided(by divisor: Double) -> DoubleDouble {
        let quotient = high / divisor
        let rest = high.addingProduct(-quotient, divisor)
        return DoubleDouble(quotient, (rest + low) / divisor)
    }

    /// - Parameter power: a power of two.
    func scaled(_ power: Double) -> DoubleDouble { DoubleDouble(high * power, low * power) }
}

/// The median.
enum Median {
    static func of(_ values: [Double]) -> Value {
        if values.isEmpty { return .null }
        if values.contains(where: \.isNaN) { return .real(.nan) }
        let sorted = values.sorted()
        let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
        if low == high { return .real(Value.normalized(low)) }
        let sum = low + high
        return .real(Value.normalized(sum.isFinite ? sum / 2 : low / 2 + high / 2))
    }

    /// - Parameter values: integers of at most 64 bits.
    static func of<I: FixedWidthInteger>(_ values: [I]) -> Value {
        if values.isEmpty { return .null }
        let sorted = values.sorted()
        return .real(Double(Int128(sorted[(sorted.count - 1) / 2]) + Int128(sorted[sorted.count / 2])) / 2)
    }
}

extension Value {
    var real: Double? { if case .real(let real) = self { real } else { nil } }
}
