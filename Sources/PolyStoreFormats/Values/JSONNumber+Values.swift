import Foundation

extension JSONNumber {
    /// Returns the number as an integer of type `T`; nil for a fraction or a number out of range. `1.0` and `1e3` are integers.
    public func integer<T: FixedWidthInteger>(as type: T.Type = T.self) -> T? {
        switch storage {
        case .int64(let value): return T(exactly: value)
        case .uint64(let value): return T(exactly: value)
        case .text(let text):
            guard let digits = DecimalDigits(validText: text), digits.exponent >= 0, digits.digits.count + digits.exponent <= 40 else {
                return nil
            }
            guard var value = digits.significand else { return nil }
            for _ in 0..<digits.exponent {
                let (product, overflow) = value.multipliedReportingOverflow(by: 10)
                if overflow { return nil }
                value = product
            }
            if !digits.isNegative { return T(exactly: value) }
            guard let magnitude = Int128(exactly: value) else { return nil }
            return T(exactly: -magnitude)
        }
    }

    /// The number as an `Int`; nil for a fraction or a number out of range.
    public var int: Int? { integer() }
    /// The number as an `Int64`; nil for a fraction or a number out of range.
    public var int64: Int64? { integer() }
    /// The number as a `UInt64`; nil for a fraction or a number out of range.
    public var uint64: UInt64? { integer() }

    /// The nearest `Double`; nil for a number beyond its range, such as `1e400`.
    public var double: Double? {
        switch storage {
        case .int64(let value): return Double(value)
        case .uint64(let value): return Double(value)
        case .text(let text):
            guard let value = Self.smallDouble(text) ?? Double(text), value.isFinite else { return nil }
            return value
        }
    }

    /// The nearest `Float`; nil for a number beyond its range.
    public var float: Float? {
        guard let value = Float(text), value.isFinite else { return nil }
        return value
    }

    /// Returns the correctly rounded value of a number without an exponent and with at most 15 digits; nil for any other.
    ///
    /// Both the digits and the power of ten are exact as `Double`, so the single division is correctly rounded.
    private static func smallDouble(_ text: String) -> Double? {
        guard text.utf8.count <= 17 else { return nil }
        var text = text
        return text.withUTF8 { bytes in
            var digits: UInt64 = 0
            var count = 0
            var fraction = -1
            let isNegative = bytes.first == UInt8(ascii: "-")
            for byte in bytes.dropFirst(isNegative ? 1 : 0) {
                if byte &- 48 < 10 {
                    digits = digits &* 10 &+ UInt64(byte &- 48)
                    count += 1
                    if fraction >= 0 { fraction += 1 }
                } else if byte == UInt8(ascii: ".") {
                    fraction = 0
                } else {
                    return nil
                }
            }
            guard count <= 15 else { return nil }
            let value = Double(digits) / powersOfTen[max(fraction, 0)]
            return isNegative ? -value : value
        }
    }

    static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    /// The exact `Decimal`; nil for a number that a `Decimal` cannot represent: more than 38 digits, or an exponent outside -128…127.
    public var decimal: Decimal? {
        switch storage {
        case .int64(let value): return Decimal(value)
        case .uint64(let value): return Decimal(value)
        case .text(let text):
            guard var digits = DecimalDigits(validText: text) else { return nil }
            if digits.digits.isEmpty { return 0 }
            // Converts a large exponent to trailing zeros.
            guard digits.exponent >= -128, digits.exponent <= 127 + 38 else { return nil }
            while digits.exponent > 127 {
                digits.digits.append(0)
                digits.exponent -= 1
            }
            guard let significand = digits.significand else { return nil }
            let half = Decimal(UInt64(significand >> 64)) * Decimal(sign: .plus, exponent: 0, significand: Self.twoToThe64)
            let magnitude = half + Decimal(UInt64(truncatingIfNeeded: significand))
            return Decimal(sign: digits.isNegative ? .minus : .plus, exponent: digits.exponent, significand: magnitude)
        }
    }

    private static let twoToThe64 = Decimal(UInt64.max) + 1

    /// Creates a number with the value of a `Decimal`; nil for NaN.
    public init?(_ value: Decimal) {
        guard !value.isNaN else { return nil }
        self.init(text: value.description)
    }
}
