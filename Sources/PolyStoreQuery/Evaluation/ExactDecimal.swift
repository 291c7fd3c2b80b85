import Foundation
import PolyStoreBackend

/// A decimal with any number of digits, for arithmetic that never rounds.
struct ExactDecimal {
    private var isNegative: Bool
    /// The decimal digits, the most significant first; neither the first nor the last is 0. Empty for 0.
    private var digits: [UInt8]
    /// The power of 10 of the last digit.
    private var exponent: Int
    private var isNaN = false

    /// The greatest number of digits of a result.
    private static let precision = 38
    /// The exponents of `Decimal`. A greater exponent is expressed by zeros at the end.
    private static let exponents = -128...127
    /// The greatest magnitude of the exponent of 100 of an operand: that of every `Decimal` and of every finite constant.
    private static let greatestOperand = 200

    private init(_ isNegative: Bool, _ digits: [UInt8], _ exponent: Int) {
        let significant = digits.drop { $0 == 0 }
        let zeros = significant.reversed().prefix { $0 == 0 }.count
        self.digits = Array(significant.dropLast(zeros))
        self.isNegative = isNegative && !self.digits.isEmpty
        self.exponent = self.digits.isEmpty ? 0 : exponent + zeros
    }

    private static var nan: ExactDecimal {
        var nan = ExactDecimal(false, [], 0)
        nan.isNaN = true
        return nan
    }

    /// Creates a decimal from an operand, which is a decimal or an integer.
    /// - Returns: nil for null, and for a constant that is greater than every number.
    /// - Throws: `corrupt` if a stored value is not a decimal.
    init?(_ value: Value, isUnsigned: Bool) throws {
        switch value {
        case .integer(let integer):
            let magnitude = isUnsigned ? UInt64(bitPattern: integer) : integer.magnitude
            self.init(!isUnsigned && integer < 0, "\(magnitude)".utf8.map { $0 - UInt8(ascii: "0") }, 0)
        case .blob(let bytes): try self.init(orderedBytes: bytes)
        default: return nil
        }
    }

    /// Decodes the encoding of `Decimal.orderedBytes`.
    private init?(orderedBytes bytes: [UInt8]) throws {
        switch (bytes.first, bytes.count) {
        case (0x7e, 1): self = .nan
        case (0x80, 1): self.init(false, [], 0)
        case (0x81, 5...), (0x7f, 5...):
            let isNegative = bytes[0] == 0x7f
            let complement: UInt8 = isNegative ? 0xff : 0
            let exponent = Int(bytes[1] ^ complement) << 8 + Int(bytes[2] ^ complement) - 0x8000
            // An infinity, as a constant.
            if exponent == 0x7fff { return nil }
            var digits: [UInt8] = []
            for byte in bytes[3..<(bytes.count - 1)] {
                let pair = byte ^ complement
                guard (1...100).contains(pair) else { throw Self.corrupt }
                digits += [(pair - 1) / 10, (pair - 1) % 10]
            }
            guard exponent.magnitude <= Self.greatestOperand, bytes[bytes.count - 1] == complement else { throw Self.corrupt }
            self.init(isNegative, digits, 2 * exponent - digits.count)
        default: throw Self.corrupt
        }
    }

    private static var corrupt: StoreError { StoreError(.corrupt, "A decimal attribute has a value that is not a decimal.") }

    /// The value, which is null if it has more than 38 digits or an exponent that `Decimal` does not have.
    var value: Value {
        if isNaN { return .blob([0x7e]) }
        if digits.isEmpty { return .blob([0x80]) }
        let zeros = max(0, exponent - Self.exponents.upperBound)
        guard digits.count + zeros <= Self.precision, exponent >= Self.exponents.lowerBound else { return .null }
        return .blob(Decimal.orderedBytes(digits, exponent, isNegative: isNegative))
    }

    static prefix func - (decimal: ExactDecimal) -> ExactDecimal {
        var negated = decimal
        negated.isNegative = !decimal.isNegative && !decimal.digits.isEmpty
        return negated
    }

    static func + (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal {
        if left.isNaN || right.isNaN { return .nan }
        let exponent = min(left.exponent, right.exponent)
        var (first, second) = (left.digits(from: exponent), right.digits(from: exponent))
        let count = max(first.count, second.count)
        first = [UInt8](repeating: 0, count: count - first.count) + first
        second = [UInt8](repeating: 0, count: count - second.count) + second
        if left.isNegative == right.isNegative { return ExactDecimal(left.isNegative, sum(first, second), exponent) }
        return first.lexicographicallyPrecedes(second)
            ? ExactDecimal(right.isNegative, difference(second, first), exponent)
            : ExactDecimal(left.isNegative, difference(first, second), exponent)
    }

    static func * (left: ExactDecimal, right: ExactDecimal) -> ExactDecimal {
        if left.isNaN || right.isNaN { return .nan }
        // Cannot overflow: each sum has at most as many products as an operand has digits.
        var sums = [Int](repeating: 0, count: left.digits.count + right.digits.count)
        for (index, digit) in left.digits.enumerated() {
            for (other, factor) in right.digits.enumerated() { sums[index + other + 1] += Int(digit) * Int(factor) }
        }
        for index in sums.indices.dropFirst().reversed() {
            sums[index - 1] += sums[index] / 10
            sums[index] %= 10
        }
        return ExactDecimal(left.isNegative != right.isNegative, sums.map { UInt8($0) }, left.exponent + right.exponent)
    }

    /// Returns the digits down to a power of 10, which is not above that of the last digit.
    private func digits(from power: Int) -> [UInt8] { digits + [UInt8](repeating: 0, count: exponent - power) }

    /// Returns the sum of two numbers with equally many digits.
    private static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var sum = [UInt8](repeating: 0, count: left.count + 1)
        var carry: UInt8 = 0
        for index in left.indices.reversed() {
            let digit = left[index] + right[index] + carry
            carry = digit / 10
            sum[index + 1] = digit % 10
        }
        sum[0] = carry
        return sum
    }

    /// Returns the difference of two numbers with equally many digits. The first must not be the smaller one.
    private static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var difference = left
        var borrow: UInt8 = 0
        for index in left.indices.reversed() {
            let taken = right[index] + borrow
            borrow = left[index] < taken ? 1 : 0
            difference[index] = left[index] + 10 * borrow - taken
        }
        return difference
    }
}

/// Exact arithmetic with decimals.
final class DecimalArithmeticNode: ExpressionNode {
    private let operation: ArithmeticOperator
    private let left: ExpressionNode
    private let right: ExpressionNode
    private let isUnsigned: (left: Bool, right: Bool)

    init(_ operation: ArithmeticOperator, _ left: QueryExpression, _ right: QueryExpression, _ lookup: RelatedLookup) {
        self.operation = operation
        self.left = .make(left, lookup)
        self.right = .make(right, lookup)
        isUnsigned = (left.type == .uint64, right.type == .uint64)
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard let first = try ExactDecimal(left.value(id, record), isUnsigned: isUnsigned.left),
            let second = try ExactDecimal(right.value(id, record), isUnsigned: isUnsigned.right)
        else { return .null }
        switch operation {
        case .add: return (first + second).value
        case .subtract: return (first + -second).value
        case .multiply: return (first * second).value
        case .divide: return .null  // has no type
        }
    }
}
