/// The scale of an axis: its range, and the values with labels.
struct ChartScale {
    let lower: Double
    let upper: Double
    private(set) var ticks: [(value: Double, label: String)] = []

    /// Creates a scale that begins and ends at a multiple of a step of 1, 2 or 5 times a power of ten.
    ///
    /// - Parameter values: The values to show. Those that are not finite do not count.
    /// - Parameter includesZero: Whether the scale contains zero, as bars need it.
    init(_ values: some Sequence<Double>, includesZero: Bool, steps: Int = 5) {
        var (low, high) = Self.range(values) ?? (0, 1)
        if includesZero { (low, high) = (min(low, 0), max(high, 0)) }
        (low, high) = Self.widened(low, high)
        // Halves, because the difference of two finite numbers need not be finite.
        let (step, exponent) = Self.step((high / 2 - low / 2) / Double(steps) * 2)
        let (first, last) = ((low / step).rounded(.down), (high / step).rounded(.up))
        (lower, upper) = (Self.finite(first * step), Self.finite(last * step))
        ticks = (0...Int(min(max(last - first, 0), 20))).map { index in
            let value = Self.finite((first + Double(index)) * step)
            return (value, NumberText.text(value, decimals: max(0, -exponent)))
        }
    }

    /// Creates a scale with given labels.
    init(from lower: Double, to upper: Double, ticks: [(value: Double, label: String)]) {
        self.lower = lower
        self.upper = upper
        self.ticks = ticks
    }

    /// Returns the position of a value between the ends of the scale, from 0 to 1. A value beyond an end has the position of the end.
    func position(_ value: Double) -> Double {
        guard !value.isNaN, upper > lower else { return 0 }
        let value = min(max(value, lower), upper)
        return (value / 2 - lower / 2) / (upper / 2 - lower / 2)
    }

    /// Returns the smallest and the largest of the finite values; nil if there is none.
    static func range(_ values: some Sequence<Double>) -> (Double, Double)? {
        values.reduce(nil) { range, value in
            guard value.isFinite else { return range }
            return range.map { (min($0.0, value), max($0.1, value)) } ?? (value, value)
        }
    }

    /// Returns a range of a length that the precision of the numbers permits.
    private static func widened(_ low: Double, _ high: Double) -> (Double, Double) {
        let smallest = max(low.magnitude, high.magnitude) * 1e-9
        guard high / 2 - low / 2 <= max(smallest, 1e-290) else { return (low, high) }
        let room = max(smallest * 10, low == 0 && high == 0 ? 1 : low.magnitude * 0.1, 1e-280)
        return low == 0 && high == 0 ? (0, 1) : (finite(low - room), finite(high + room))
    }

    /// Returns the smallest step of the form 1, 2 or 5 times a power of ten that is not smaller than a number, and the exponent of the power.
    private static func step(_ rough: Double) -> (Double, Int) {
        var (unit, exponent) = (1.0, 0)
        while unit * 10 <= rough { (unit, exponent) = (unit * 10, exponent + 1) }
        while unit > rough, exponent > -300 { (unit, exponent) = (unit / 10, exponent - 1) }
        // The unit is computed again from the exponent, because repeated division loses digits.
        if exponent < 0 { unit = 1 / NumberText.power(-exponent) }
        let factor = [1.0, 2, 5].first { $0 * unit >= rough * (1 - 1e-9) } ?? 10
        return (factor * unit, factor == 10 ? exponent + 1 : exponent)
    }

    private static func finite(_ value: Double) -> Double {
        min(max(value, -Double.greatestFiniteMagnitude), .greatestFiniteMagnitude)
    }
}
