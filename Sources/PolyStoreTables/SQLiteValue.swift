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
        case .text(let text): "'\(text.replacing("'", with: "''"))'"
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
            } else if let integer = Int64(literal) {
                self = .integer(integer)
            } else if let first = literal.first, first.isNumber || "+-.".contains(first), let real = Double(literal) {
                self = .real(real)
            } else {
                return nil
            }
        }
    }

    private static func unquoted(_ literal: String, _ quote: Character) -> String? {
        guard literal.count >= 2, literal.first == quote, literal.last == quote else { return nil }
        var text = ""
        var isEscaped = false
        for character in literal.dropFirst().dropLast() {
            if character == quote {
                if isEscaped { text.append(character) }
                isEscaped.toggle()
            } else {
                guard !isEscaped else { return nil }
                text.append(character)
            }
        }
        return isEscaped ? nil : text
    }

    private static func bytes(_ literal: String) -> [UInt8]? {
        guard literal.first == "X" || literal.first == "x", let digits = unquoted(String(literal.dropFirst()), "'") else { return nil }
        let values = digits.compactMap(\.hexDigitValue)
        guard values.count == digits.count, values.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}
