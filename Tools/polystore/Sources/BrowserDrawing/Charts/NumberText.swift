/// Numbers as a chart shows them.
enum NumberText {
    /// Returns a number with groups of three digits, and with at most `decimals` digits after the point.
    static func text(_ value: Double, decimals: Int = 3) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-∞" : "∞" }
        let scale = power(min(max(decimals, 0), 9))
        let scaled = (value.magnitude * scale).rounded()
        // Beyond these, the digits of the number say more than zeros.
        guard value.magnitude < 1e12, scaled < 9e15, scaled > 0 || value == 0 else { return "\(value)" }
        let (whole, fraction) = (UInt64(scaled) / UInt64(scale), UInt64(scaled) % UInt64(scale))
        return (value < 0 && scaled > 0 ? "-" : "") + grouped(whole) + digits(fraction, min(max(decimals, 0), 9))
    }

    private static func grouped(_ value: UInt64) -> String {
        let digits = Array(String(value))
        var result = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { result.append(",") }
            result.append(digit)
        }
        return result
    }

    private static func digits(_ fraction: UInt64, _ decimals: Int) -> String {
        guard fraction > 0 else { return "" }
        var text = String(fraction)
        text = "." + String(repeating: "0", count: max(0, decimals - text.count)) + text
        while text.hasSuffix("0") { text.removeLast() }
        return text
    }

    /// Returns a power of ten.
    static func power(_ exponent: Int) -> Double {
        (0..<exponent.magnitude).reduce(1.0) { value, _ in exponent < 0 ? value / 10 : value * 10 }
    }
}
