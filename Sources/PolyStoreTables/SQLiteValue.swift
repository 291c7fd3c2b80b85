import PolyStoreBackend

/// A value of a row of a database of SQLite, of the storage class that it has there.
public enum SQLiteValue: Sendable, Hashable {
    /// NULL.
    case null
    /// A value of the storage class INTEGER.
    case integer(Int64)
    /// A value of the storage class REAL.
    case real(Double)
    /// A value of the storage class TEXT.
    case text(String)
    /// A value of the storage class TEXT that is not valid UTF-8.
    case malformedText([UInt8])
    /// A value of the storage class BLOB.
    case blob([UInt8])
}

extension SQLiteValue: CustomStringConvertible {
    /// The value as a literal of SQL. ``init(literal:)`` returns the value of it.
    public var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): value.isFinite ? "\(value)" : value < 0 ? "-9e999" : "9e999"
        case .text(let text): text.enclosed(in: "'")
        case .malformedText(let bytes): "CAST(X'\(Self.hex(bytes))' AS TEXT)"
        case .blob(let bytes): "X'\(Self.hex(bytes))'"
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF")
        return bytes.reduce(into: "") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
    }

    /// Creates the value of a literal of SQL: a number, a text in quotes, a blob, NULL, TRUE or FALSE.
    /// - Returns: nil for any other expression.
    public init?(literal: String) {
        let upper = literal.uppercased()
        switch upper {
        case "NULL": self = .null
        case "TRUE": self = .integer(1)
        case "FALSE": self = .integer(0)
        default:
            if let text = Self.unquoted(literal, "'") ?? Self.unquoted(literal, "\"") {
                self = .text(text)
            } else if let bytes = Self.bytes(literal) {
                self = .blob(bytes)
            } else if upper.hasPrefix("CAST("), upper.hasSuffix(" AS TEXT)"),
                let bytes = Self.bytes(String(literal.dropFirst(5).dropLast(9)))
            {
                self = .malformedText(bytes)
            } else if let integer = Self.hexadecimal(literal) {
                self = .integer(integer)
            } else if let number = SQLiteValue(decimal: literal) {
                self = number
            } else {
                return nil
            }
        }
    }

    private static func unquoted(_ literal: String, _ quote: Unicode.Scalar) -> String? {
        let scalars = literal.unicodeScalars
        guard scalars.count >= 2, scalars.first == quote, scalars.last == quote else { return nil }
        var text = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in scalars.dropFirst().dropLast() {
            if scalar == quote {
                if isEscaped { text.append(scalar) }
                isEscaped.toggle()
            } else {
                guard !isEscaped else { return nil }
                text.append(scalar)
            }
        }
        return isEscaped ? nil : String(text)
    }

    private static func bytes(_ literal: String) -> [UInt8]? {
        guard literal.utf8.first == 0x58 || literal.utf8.first == 0x78,
            let digits = unquoted(String(literal.unicodeScalars.dropFirst()), "'")
        else { return nil }
        let values = digits.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == digits.utf8.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }

    /// Returns the number of a text in SQLite's syntax of decimal numbers; nil for other texts, such as hexadecimal ones, inf and nan.
    init?(decimal text: String) {
        let plain = Array(text.utf8.drop { $0 == 32 }.reversed().drop { $0 == 32 }.reversed())
        var rest = plain[...]
        func skipDigits() -> Int {
            let count = rest.prefix { $0 >= 48 && $0 <= 57 }.count
            rest = rest.dropFirst(count)
            return count
        }
        func skip(_ characters: Unicode.Scalar...) -> Bool {
            guard let first = rest.first, characters.contains(Unicode.Scalar(first)) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = skip("+", "-")
        var digits = skipDigits()
        if skip(".") { digits += skipDigits() }
        guard digits > 0 else { return nil }
        if skip("e", "E") {
            _ = skip("+", "-")
            guard skipDigits() > 0 else { return nil }
        }
        guard rest.isEmpty else { return nil }
        let number = String(decoding: plain, as: UTF8.self)
        if let integer = Int64(number) {
            self = .integer(integer)
        } else if let real = Double(number) {
            self = .real(real)
        } else {
            return nil
        }
    }

    /// Returns the integer of a hexadecimal literal, whose 64 bits are those of the integer.
    private static func hexadecimal(_ literal: String) -> Int64? {
        guard foldedName(literal).starts(with: Array("0x".utf8)) else { return nil }
        return UInt64(literal.dropFirst(2), radix: 16).map { Int64(bitPattern: $0) }
    }
}

// Texts are equal if their bytes are, as in SQLite. Those of Swift are also equal if they are composed in different ways.
extension SQLiteValue {
    public static func == (left: SQLiteValue, right: SQLiteValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.malformedText(let left), .malformedText(let right)): left == right
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .malformedText(let bytes), .blob(let bytes): hasher.combine(bytes)
        }
    }
}
