/// A number as ±d₁d₂…dₙ × 10^exponent, with d₁ ≠ 0 and dₙ ≠ 0; no digits for zero.
struct DecimalDigits: Hashable {
    var isNegative = false
    /// The digits 0…9, most significant first.
    var digits: [UInt8] = []
    var exponent = 0

    /// Creates the digits of a valid JSON number; nil if the exponent exceeds 10^18 in magnitude.
    init?(validText text: String) {
        var fraction = 0
        var isFraction = false
        var exponentText: Substring?
        for index in text.utf8.indices {
            let byte = text.utf8[index]
            switch byte {
            case UInt8(ascii: "-"): isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case 48...57:
                if !digits.isEmpty || byte != 48 { digits.append(byte - 48) }
                if isFraction { fraction += 1 }
            default:
                exponentText = text[text.utf8.index(after: index)...]
            }
            if exponentText != nil { break }
        }
        if digits.isEmpty {
            isNegative = false
            return
        }
        if let exponentText {
            guard let value = Int(exponentText), value.magnitude < 1_000_000_000_000_000_000 else { return nil }
            exponent = value
        }
        exponent -= fraction
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
    }

    /// The value of the digits without the exponent; nil above 128 bits.
    var significand: UInt128? {
        guard digits.count <= 39 else { return nil }
        var value: UInt128 = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt128(digit))
            if overflow || carry { return nil }
            value = sum
        }
        return value
    }
}
