import Foundation
import PolyStoreBackend

/// The exact sum of decimals. It does not depend on their order.
///
/// Keeps one integer for each power of 100, so that additions never round and carries are resolved at the end.
struct DecimalSum {
    private(set) var count: Int64 = 0
    private var isNaN = false
    private var isCorrupt = false
    /// The sums of the digits at each power of 100, from the lowest power.
    private var limbs: [Int64] = []
    /// The power of 100 of the first limb.
    private var lowest = 0

    /// The greatest magnitude of a decimal's exponent of 100.
    private static let greatestExponent = 128

    init() {}

    init(_ values: [Value]) {
        for value in values { if case .blob(let bytes) = value { bytes.withUnsafeBytes { add($0) } } }
    }

    /// Adds a decimal in the encoding of `Decimal.orderedBytes`.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        count += 1
        switch (bytes.first, bytes.count) {
        case (0x7e, 1): isNaN = true
        case (0x80, 1): break
        case (0x81, 5...): add(bytes, complement: 0, sign: 1)
        case (0x7f, 5...): add(bytes, complement: 0xff, sign: -1)
        default: isCorrupt = true
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer, complement: UInt8, sign: Int64) {
        let exponent = Int(bytes[1] ^ complement) << 8 + Int(bytes[2] ^ complement) - 0x8000
        let digits = bytes.count - 4
        guard exponent.magnitude <= Self.greatestExponent, digits <= 20 else {
            isCorrupt = true
            return
        }
        reserve(exponent - digits, exponent)
        for index in 0..<digits { limbs[exponent - 1 - index - lowest] += sign * (Int64(bytes[3 + index] ^ complement) - 1) }
    }

    /// Reserves limbs for a range of powers.
    private mutating func reserve(_ low: Int, _ high: Int) {
        if limbs.isEmpty { lowest = low }
        if low < lowest {
            limbs.insert(contentsOf: repeatElement(0, count: lowest - low), at: 0)
            lowest = low
        }
        if high > lowest + limbs.count { limbs += repeatElement(0, count: high - lowest - limbs.count) }
    }

    /// The sign, the decimal digits (the first is not 0), and the power of 10 of the last digit. The digits of 0 are empty.
    private var total: (isNegative: Bool, digits: [UInt8], exponent: Int) {
        var carried = limbs
        var carry: Int64 = 0
        for index in carried.indices {
            let value = carried[index] + carry
            carry = value >= 0 ? value / 100 : -((99 - value) / 100)
            carried[index] = value - carry * 100
        }
        // The remaining carry is the sum of the greater powers. It is negative if the sum is negative.
        let isNegative = carry < 0
        if isNegative {
            var borrow: Int64 = 0
            for index in carried.indices {
                let value = -carried[index] - borrow
                borrow = value < 0 ? 1 : 0
                carried[index] = value + borrow * 100
            }
            carry = -carry - borrow
        }
        while carry > 0 {
            carried.append(carry % 100)
            carry /= 100
        }
        let digits = carried.reversed().flatMap { [UInt8($0 / 10), UInt8($0 % 10)] }
        return (isNegative, Array(digits.drop { $0 == 0 }), 2 * lowest)
    }

    /// Returns the sum, which is 0 for no values; nil if no `Decimal` represents it.
    /// - Throws: `corrupt` if a stored value is not a decimal.
    func sum() throws -> Value? {
        try check()
        if isNaN { return .blob([0x7e]) }
        let (isNegative, digits, exponent) = total
        if digits.isEmpty { return .blob([0x80]) }
        return Decimal.exactBytes(digits, exponent, isNegative: isNegative).map { .blob($0) }
    }

    /// Returns the average with up to 38 digits; null for no values, nil if no `Decimal` represents it.
    /// - Throws: `corrupt` if a stored value is not a decimal.
    func average() throws -> Value? {
        try check()
        if count == 0 { return .null }
        if isNaN { return .blob([0x7e]) }
        var (isNegative, digits, exponent) = total
        if digits.isEmpty { return .blob([0x80]) }
        var quotient: [UInt8] = []
        var remainder: Int128 = 0
        var position = 0
        // One digit more than the precision of a decimal, for rounding.
        while position < digits.count || remainder != 0 && quotient.count < 39 {
            if position >= digits.count { exponent -= 1 }
            remainder = remainder * 10 + Int128(position < digits.count ? digits[position] : 0)
            position += 1
            let digit = remainder / Int128(count)
            remainder -= digit * Int128(count)
            if digit != 0 || !quotient.isEmpty { quotient.append(UInt8(digit)) }
        }
        if quotient.isEmpty { return .blob([0x80]) }
        if quotient.count > 38 {
            let isUp = quotient[38] >= 5
            exponent += quotient.count - 38
            quotient.removeSubrange(38...)
            if isUp { Self.increment(&quotient) }
        }
        return Decimal.exactBytes(quotient, exponent, isNegative: isNegative).map { .blob($0) }
    }

    private static func increment(_ digits: inout [UInt8]) {
        for index in digits.indices.reversed() {
            if digits[index] < 9 {
                digits[index] += 1
                return
            }
            digits[index] = 0
        }
        digits.insert(1, at: 0)
    }

    private func check() throws {
        if isCorrupt { throw StoreError(.corrupt, "A decimal attribute has a value that is not a decimal.") }
    }
}

extension Decimal {
    /// Returns the ordered bytes of a number; nil if no decimal has exactly this value.
    /// - Parameter digits: decimal digits; the first is not 0.
    fileprivate static func exactBytes(_ digits: [UInt8], _ exponent: Int, isNegative: Bool) -> [UInt8]? {
        let bytes = orderedBytes(digits, exponent, isNegative: isNegative)
        return bytes.withUnsafeBytes { Decimal(orderedBytes: $0) }?.orderedBytes == bytes ? bytes : nil
    }
}

/// The sums and averages of decimals for each group, in addition to the statistics of all values.
final class DecimalStatistics: Accumulator {
    private let field: FieldReference
    private var states: [DecimalSum] = []

    init(_ field: FieldReference) { self.field = field }

    override func grow() { states.append(DecimalSum()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if !record.isNull(field.index) { states[group].add(record.bytes(field.index)) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) throws -> Value {
        let value = function == .average ? try states[group].average() : try states[group].sum()
        guard let value else {
            throw StoreError(
                .invalidValue, "The \(function.rawValue) of \(field.name) does not fit a Decimal, which has 38 digits.",
                attribute: field.name)
        }
        return value
    }
}
