/// The natural logarithm with a fixed order of operations, so that the last bit of a score depends on no system library.
///
/// Only additions, multiplications and divisions are used, which IEEE 754 rounds exactly. The error is less than 1 unit in the last place.
package enum NaturalLogarithm {
    /// ln 2 as a sum; the first part has 32 zeros at its end, so that a product with an exponent is exact.
    private static let ln2High = Double(bitPattern: 0x3fe6_2e42_fee0_0000)
    private static let ln2Low = Double(bitPattern: 0x3dea_39ef_3579_3c76)

    /// Returns the natural logarithm of a number; -infinity for 0, and NaN for negative numbers.
    package static func of(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return value == 0 ? -.infinity : value < 0 ? .nan : value }
        // The significand is in [√½, √2), so that the series converges quickly.
        var significand = value.significand
        var exponent = Double(value.exponent)
        if significand > 1.414213562373095 {
            significand /= 2
            exponent += 1
        }
        // ln(1 + f) = 2 artanh(s) with s = f / (2 + f), which is 2s + 2s³/3 + 2s⁵/5 + …; and 2s = f - s f, where f is exact.
        let f = significand - 1
        let s = f / (2 + f)
        let z = s * s
        var series = 2.0 / 21
        var divisor = 19.0
        while divisor > 2 {
            series = 2 / divisor + z * series
            divisor -= 2
        }
        let rest = z * series
        let half = 0.5 * f * f
        return exponent * ln2High - ((half - (s * (half + rest) + exponent * ln2Low)) - f)
    }
}
