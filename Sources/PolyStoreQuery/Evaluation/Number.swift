import PolyStoreBackend

/// A number in the form in which expressions are calculated.
enum Number {
    case whole(Int128)
    case broken(Double)

    /// - Returns: nil for null and for values that are not numbers.
    init?(_ value: Value, isUnsigned: Bool) {
        switch value {
        case .integer(let integer): self = .whole(isUnsigned ? Int128(UInt64(bitPattern: integer)) : Int128(integer))
        case .real(let real): self = .broken(real)
        default: return nil
        }
    }

    var integer: Int128 {
        switch self {
        case .whole(let integer): integer
        case .broken: 0
        }
    }

    var real: Double {
        switch self {
        case .whole(let integer): Double(integer)
        case .broken(let real): real
        }
    }

    /// Compares two numbers exactly by value. As in ``Order/of(_:_:)-(Double,_)``, NaN is below every number.
    static func order(_ left: Number, _ right: Number) -> Int {
        switch (left, right) {
        case (.whole(let first), .whole(let second)): first < second ? -1 : (first == second ? 0 : 1)
        case (.broken(let first), .broken(let second)): Order.of(first, second)
        case (.whole(let first), .broken(let second)): order(first, second)
        case (.broken(let first), .whole(let second)): -order(second, first)
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
