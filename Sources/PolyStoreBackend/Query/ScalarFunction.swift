import Foundation

/// A function of one or two values, evaluated for each object.
public enum ScalarFunction: String, Sendable, Hashable, CaseIterable {
    /// The first number raised to the power of the second, as a real; null if the result is not a number.
    case power
    /// The remainder of the division of the first number by the second, with the sign of the first; null if the second is 0.
    case modulus
    /// The absolute value; null if it overflows an integer.
    case abs
    /// The smallest integer that is not less than the number.
    case ceiling
    /// The greatest integer that is not greater than the number.
    case floor
    /// The number without its fraction.
    case trunc
    /// The square root as a real; null for a negative number.
    case sqrt
    /// The natural logarithm as a real; null for 0 and for a negative number.
    case ln
    /// The logarithm to the base of 10 as a real; null for 0 and for a negative number.
    case log
    /// The exponential of the number as a real: the power of e. Infinite if it overflows.
    case exp
    /// A pseudorandom integer of an integer and a seed, of all 64 bits with a sign: an order by it is a random order that the seed determines.
    ///
    /// The value of number n with seed s is the n-th output of the generator SplitMix64 that starts from s (Steele, Lea and Flood, "Fast Splittable
    /// Pseudorandom Number Generators", 2014). On 64 bits without a sign, where products and sums wrap:
    ///
    ///     z = s + n * 0x9e3779b97f4a7c15
    ///     z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
    ///     z = (z ^ (z >> 27)) * 0x94d049bb133111eb
    ///     value = z ^ (z >> 31)
    ///
    /// The bits of the value are read as an `Int64`. With one seed, different numbers have different values, so an order by the values of row ids has no ties.
    case shuffle
    /// The number of characters (extended grapheme clusters) of a text.
    case length
    /// The text in uppercase, by Unicode's default rules.
    case uppercase
    /// The text in lowercase, by Unicode's default rules.
    case lowercase
    /// The value itself. In a collection aggregate, equal values count once.
    case distinct

    /// The number of operands.
    public var operandCount: Int {
        switch self {
        case .power, .modulus, .shuffle: 2
        default: 1
        }
    }

    /// Returns the type of the result; nil if the function does not accept operands of these types.
    public func type(_ operands: [AttributeType]) -> AttributeType? {
        guard operands.count == operandCount else { return nil }
        switch self {
        case .distinct: return operands[0]
        case .length: return operands[0].physical == .text ? .int64 : nil
        case .uppercase, .lowercase: return operands[0].physical == .text ? .string : nil
        case .power, .sqrt, .ln, .log, .exp: return operands.allSatisfy(\.isNumber) ? .double : nil
        case .shuffle: return operands.allSatisfy { $0.isNumber && $0.physical == .integer } ? .int64 : nil
        case .modulus:
            guard operands.allSatisfy(\.isNumber) else { return nil }
            return operands.allSatisfy { $0.physical == .integer } ? .int64 : .double
        case .abs, .ceiling, .floor, .trunc:
            guard operands[0].isNumber else { return nil }
            return operands[0].physical == .real ? .double : (operands[0] == .uint64 ? .uint64 : .int64)
        }
    }

    /// The accepted operands, for error messages.
    public var operandDescription: String {
        switch self {
        case .length, .uppercase, .lowercase: "a text"
        case .power, .modulus: "two numbers"
        case .shuffle: "an object or an integer, and an integer as its seed"
        case .distinct: "a value"
        default: "a number"
        }
    }
}
