import Foundation

/// An encoding of decimals whose `memcmp` order is the numeric order. Equal numbers have equal bytes.
///
///     zero      80
///     positive  81, exponent as big-endian u16 (E + 0x8000), base-100 digits + 1, 00
///     negative  7F and the complement of what follows the 81 of its magnitude
///     NaN       7E
///
/// The number is 0.D₁D₂D₃… × 100^E with digits of base 100 and D₁ ≠ 0.
extension Decimal {
    package var orderedBytes: [UInt8] {
        if isNaN { return [0x7e] }
        if isZero { return [0x80] }
        return Self.orderedBytes(Self.digits(of: significand.magnitude), exponent, isNegative: sign == .minus)
    }

    /// Returns the bytes to compare decimals with a real number. The real represents the shortest decimal that converts to it.
    ///
    /// A real may be larger or smaller than every `Decimal`; its bytes are ordered correctly relative to those of decimals. Infinities are ordered above and
    /// below every decimal.
    package static func orderedBytes(comparing real: Double) -> [UInt8] {
        if real.isNaN { return [0x7e] }
        if real == 0 { return [0x80] }
        if real.isInfinite { return real < 0 ? [0x7f, 0, 0, 0, 0xff] : [0x81, 0xff, 0xff, 0xff, 0] }
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        let text = "\(real.magnitude)".split(separator: "e")
        for character in text[0].utf8 {
            if character == UInt8(ascii: ".") {
                isFraction = true
            } else {
                digits.append(character - UInt8(ascii: "0"))
                if isFraction { exponent -= 1 }
            }
        }
        if text.count > 1 { exponent += Int(text[1]) ?? 0 }
        return orderedBytes(Array(digits.drop { $0 == 0 }), exponent, isNegative: real < 0)
    }

    /// - Parameter digits: The decimal digits, the first of them not 0.
    package static func orderedBytes(_ digits: [UInt8], _ exponent: Int, isNegative: Bool) -> [UInt8] {
        var (digits, exponent) = (digits, exponent)
        // Removes trailing zeros, so that 1.5 and 1.50 are equal.
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        // 0.d₁d₂… × 10^point
        var point = digits.count + exponent
        if point & 1 != 0 {
            digits.insert(0, at: 0)
            point += 1
        }
        if digits.count & 1 != 0 { digits.append(0) }
        let biased = UInt16(clamping: point / 2 + 0x8000)
        var bytes: [UInt8] = [UInt8(biased >> 8), UInt8(biased & 255)]
        for pair in stride(from: 0, to: digits.count, by: 2) { bytes.append(digits[pair] * 10 + digits[pair + 1] + 1) }
        bytes.append(0)
        return isNegative ? [0x7f] + bytes.map { ~$0 } : [0x81] + bytes
    }

    /// Decodes the result of ``orderedBytes``; `nil` for any other bytes.
    package init?(orderedBytes bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return nil }
        switch (first, bytes.count) {
        case (0x7e, 1): self = .nan
        case (0x80, 1): self = 0
        case (0x81, 5...): self.init(magnitude: bytes.dropFirst().map { $0 }, negative: false)
        case (0x7f, 5...): self.init(magnitude: bytes.dropFirst().map { ~$0 }, negative: true)
        default: return nil
        }
    }

    private init?(magnitude bytes: [UInt8], negative: Bool) {
        guard bytes.last == 0 else { return nil }
        let exponent = Int(bytes[0]) << 8 + Int(bytes[1]) - 0x8000
        let pairs = bytes[2..<bytes.count - 1]
        guard pairs.count <= 20 else { return nil }
        var significand = Decimal(0)
        var scale = 2 * (exponent - pairs.count)
        for (index, pair) in pairs.enumerated() {
            guard (1...100).contains(pair) else { return nil }
            let value = Int(pair) - 1
            if index == pairs.count - 1, value % 10 == 0 {
                // Drops a zero that only pads the last pair; with it the exponent could overflow.
                significand = significand * 10 + Decimal(value / 10)
                scale += 1
            } else {
                significand = significand * 100 + Decimal(value)
            }
        }
        guard (-128...127).contains(scale) else { return nil }
        self = Decimal(sign: negative ? .minus : .plus, exponent: scale, significand: significand)
        if isNaN { return nil }
    }

    private static func digits(of whole: Decimal) -> [UInt8] {
        // The full decimal form without an exponent: a significand is an integer of at most 39 digits.
        "\(whole)".utf8.compactMap { (48...57).contains($0) ? $0 - 48 : nil }
    }
}
