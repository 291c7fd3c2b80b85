import PolyStoreBackend

/// A naive decimal: one digit for each power of 10 from −400 on.
struct OracleDecimal {
    private static let lowest = -400
    private var isNegative: Bool
    /// The digits, the least significant first.
    private var digits: [Int]
    private var lowest = Self.lowest
    private var isNaN = false

    /// Creates a decimal from an integer or from the bytes of a decimal; nil for null.
    init?(_ value: Value, _ type: AttributeType) {
        switch value {
        case .integer(let number):
            let text = type == .uint64 ? "\(UInt64(bitPattern: number))" : "\(number)"
            self.init(text)
        case .blob(let bytes):
            self.init(bytes == [0x7e] ? "nan" : "0")
            isNegative = bytes.first == 0x7f
            if bytes.count < 5 { break }
            let plain = isNegative ? bytes.map { ~$0 } : bytes
            let exponent = Int(plain[1]) * 256 + Int(plain[2]) - 0x8000
            for (index, byte) in plain[3..<(plain.count - 1)].enumerated() {
                let power = 2 * (exponent - 1 - index) - lowest
                (digits[power], digits[power + 1]) = ((Int(byte) - 1) % 10, (Int(byte) - 1) / 10)
            }
        default: return nil
        }
    }

    /// Creates a decimal from a text such as `-1.5` or `1e100`.
    init(_ text: String) {
        let parts = text.split(separator: "e")
        let fraction = parts[0].split(separator: ".").dropFirst().first?.count ?? 0
        let power = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - fraction
        (isNegative, digits) = (text.hasPrefix("-"), [Int](repeating: 0, count: 1000))
        isNaN = text == "nan"
        for (index, digit) in parts[0].filter(\.isNumber).reversed().enumerated() {
            digits[power + index - lowest] = digit.wholeNumberValue ?? 0
        }
    }

    /// - Returns: null if the result has more than 38 digits, where zeros count only above 10^127, or digits below 10^−128.
    static func calculate(_ operation: ArithmeticOperator, _ left: OracleDecimal, _ right: OracleDecimal) -> Value {
        if left.isNaN || right.isNaN { return .blob([0x7e]) }
        var result = left
        if operation == .multiply {
            result.digits = [Int](repeating: 0, count: 2000)
            for (index, digit) in left.digits.enumerated() where digit != 0 {
                for (other, factor) in right.digits.enumerated() where factor != 0 { result.digits[index + other] += digit * factor }
            }
            result.lowest = 2 * lowest
            result.isNegative = left.isNegative != right.isNegative
        } else {
            let isNegated = right.isNegative != (operation == .subtract)
            for (index, digit) in right.digits.enumerated() {
                result.digits[index] = (left.isNegative ? -1 : 1) * left.digits[index] + (isNegated ? -1 : 1) * digit
            }
            result.isNegative = (result.digits.last { $0 != 0 } ?? 0) < 0
            if result.isNegative { result.digits = result.digits.map { -$0 } }
        }
        var carry = 0
        for index in result.digits.indices {
            let sum = result.digits[index] + carry
            let digit = ((sum % 10) + 10) % 10
            (result.digits[index], carry) = (digit, (sum - digit) / 10)
        }
        return result.value
    }

    /// The value as an attribute has it; null if no attribute can have it.
    var value: Value {
        if isNaN { return .blob([0x7e]) }
        guard let first = digits.firstIndex(where: { $0 != 0 }), let last = digits.lastIndex(where: { $0 != 0 }) else {
            return .blob([0x80])
        }
        let power = first + lowest
        guard power >= -128, last - first + 1 + max(0, power - 127) <= 38 else { return .null }
        // `lowest` is even, so a pair begins at each even index.
        var bytes: [UInt8] = []
        for pair in stride(from: last / 2 * 2, through: first / 2 * 2, by: -2) {
            bytes.append(UInt8(digits[pair] + 10 * digits[pair + 1] + 1))
        }
        let exponent = (last / 2 * 2 + lowest) / 2 + 1 + 0x8000
        bytes = [UInt8(exponent / 256), UInt8(exponent % 256)] + bytes + [0]
        return .blob(isNegative ? [0x7f] + bytes.map { ~$0 } : [0x81] + bytes)
    }
}
