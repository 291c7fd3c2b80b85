import PolyStoreBackend

/// A number in the form in which expressions are calculated.
enum NumericValue {
    case integer(Int128)
    case real(Double)

    /// - Returns: nil for null and for values that are not numbers.
    init?(_ value: Value, isUnsigned: Bool) {
        switch value {
        case .integer(let integer): self = .integer(isUnsigned ? Int128(UInt64(bitPattern: integer)) : Int128(integer))
        case .real(let real): self = .real(real)
        default: return nil
        }
    }

    var asInteger: Int128 {
        switch self {
        case .integer(let integer): integer
        case .real: 0
        }
    }

    var asReal: Double {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        }
    }

    /// Compares two numbers exactly by value. As in ``Order/of(_:_:)-(Double,_)``, NaN is below every number.
    static func order(_ left: NumericValue, _ right: NumericValue) -> Int {
        switch (left, right) {
        case (.integer(let first), .integer(let second)): first < second ? -1 : (first == second ? 0 : 1)
        case (.real(let first), .real(let second)): Order.of(first, second)
        case (.integer(let first), .real(let second)): order(first, second)
        case (.real(let first), .integer(let second)): -order(second, first)
        }
    }

    private static func order(_ integer: Int128, _ real: Double) -> Int {
        if real.isNaN || real < -0x1p70 { return 1 }
        if real > 0x1p70 { return -1 }
        let whole = Int128(real)  // rounds toward zero
        if integer != whole { return integer < whole ? -1 : 1 }
        return -Order.of(real - Double(whole), 0)
    }
}
