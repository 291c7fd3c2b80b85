import PolyStoreBackend

/// A number that is compared and calculated exactly.
enum OracleNumber {
    case whole(Int128)
    case real(Double)

    init?(_ value: Value, _ type: AttributeType) {
        switch value {
        case .integer(let number): self = .whole(type == .uint64 ? Int128(UInt64(bitPattern: number)) : Int128(number))
        case .real(let number): self = .real(number)
        default: return nil
        }
    }

    static func signed(_ number: Int128) -> Value? { Int64(exactly: number).map { .integer($0) } }
    static func unsigned(_ number: Int128) -> Value? { UInt64(exactly: number).map { .integer(Int64(bitPattern: $0)) } }

    /// - Returns: `nil` for null.
    static func calculate(_ operation: ArithmeticOperator, _ left: OracleNumber, _ right: OracleNumber) -> Value? {
        if case .whole(let first) = left, case .whole(let second) = right {
            switch operation {
            case .add: return signed(first + second)
            case .subtract: return signed(first - second)
            case .multiply:
                let product = first.multipliedReportingOverflow(by: second)
                return product.overflow ? nil : signed(product.partialValue)
            case .divide: return second == 0 ? nil : signed(first / second)
            }
        }
        let (first, second) = (left.rounded, right.rounded)
        switch operation {
        case .add: return .real(first + second)
        case .subtract: return .real(first - second)
        case .multiply: return .real(first * second)
        case .divide: return second == 0 ? nil : .real(first / second)
        }
    }

    var rounded: Double {
        switch self {
        case .whole(let number): Double(number)
        case .real(let number): number
        }
    }

    /// Compares two numbers: NaN, then −∞, then the numbers by value. Returns a negative number, 0 or a positive one.
    static func compare(_ left: OracleNumber, _ right: OracleNumber) -> Int {
        switch (left, right) {
        case (.whole(let first), .whole(let second)): return first == second ? 0 : (first < second ? -1 : 1)
        case (.real(let first), .real(let second)): return OracleValues.compare(.real(first), .real(second), unsigned: false)
        case (.real, .whole): return -compare(right, left)
        case (.whole(let number), .real(let real)):
            if real.isNaN { return 1 }
            // Greater in magnitude than every 64-bit integer.
            if abs(real) > 1e30 { return real > 0 ? -1 : 1 }
            let floor = Int128(real.rounded(.down))
            if number != floor { return number < floor ? -1 : 1 }
            return real > real.rounded(.down) ? -1 : 0
        }
    }
}
