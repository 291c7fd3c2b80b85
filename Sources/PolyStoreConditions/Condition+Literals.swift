import PolyStoreBackend
import PolyStoreQuery

extension PropertyPath {
    /// The path as a literal. Reserved words and names that are not identifiers are escaped: `#any`, `#"first name"`.
    var literal: String {
        if variable == nil, keys.isEmpty { return "SELF" }
        let start = variable.map { ["$" + $0] } ?? []
        let names = keys.enumerated().map { index, key in Self.literal(key, isFirst: index == 0 && variable == nil) }
        return Self.joined(start + names)
    }

    /// The literal form after a dot, where no word is reserved.
    var restLiteral: String { Self.joined(keys.map { Self.literal($0, isFirst: false) }) }

    private static func joined(_ names: [String]) -> String {
        names.reduce(into: "") { $0 += $0.isEmpty || $1.hasPrefix("[") ? $1 : "." + $1 }
    }

    /// Returns whether a key is a position of an ordered relationship: `[0]`, `[FIRST]`.
    static func isPosition(_ key: String) -> Bool {
        guard key.hasPrefix("["), key.hasSuffix("]"), key.count > 2 else { return false }
        if ["[FIRST]", "[LAST]", "[SIZE]"].contains(key) { return true }
        let number = String(key.dropFirst().dropLast())
        return Int(number).map { $0 >= 0 && String($0) == number } ?? false
    }

    private static func literal(_ key: String, isFirst: Bool) -> String {
        if !isFirst, isPosition(key) { return key }
        let lexer = FormatLexer(key)
        let isOperator = lexer.byte(0) == UInt8(ascii: "@")
        let length = lexer.wordLength(at: isOperator ? 1 : 0)
        guard length > 0, length + (isOperator ? 1 : 0) == lexer.bytes.count else { return "#" + key.quotedLiteral }
        // After a dot, no word is reserved.
        return isFirst && ReservedWord.kind(of: lexer.bytes[...]) != nil ? "#" + key : key
    }
}

extension String {
    fileprivate var quotedLiteral: String {
        var result = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\0"..<" ", "\u{7f}": result += (scalar.value < 16 ? "\\x0" : "\\x") + String(scalar.value, radix: 16)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension Value {
    /// Returns the value in the syntax of format strings, or in angle brackets if it has no literal form.
    func literal(of type: AttributeType) -> String {
        switch self {
        case .null: "NULL"
        case .integer(let value):
            switch type {
            case .bool where value == 0 || value == 1: value == 1 ? "TRUE" : "FALSE"
            case .uint64: "\(UInt64(bitPattern: value))"
            default: "\(value)"
            }
        case .real(let value) where type == .date: "<date \(Self.date(value))>"
        case .real(let value): value.isFinite ? "\(value)" : "<\(value)>"
        case .text(let value): value.quotedLiteral
        case .blob(let bytes) where type == .uuid && bytes.count == 16: "<uuid \(Self.uuid(bytes))>"
        case .blob(let bytes): "<\(type == .decimal ? "decimal" : "data") of \(bytes.count) bytes>"
        }
    }

    /// Formats seconds since 2001-01-01 as a date.
    private static func date(_ seconds: Double) -> String {
        // Beyond some 30,000 years, the number of seconds is more readable than a date.
        guard seconds.magnitude < 1e12, let date = CivilDate(secondsSince2001: seconds) else { return "\(seconds) s after 2001" }
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let ofDay = seconds - (seconds / 86400).rounded(.down) * 86400
        let second = ofDay - (ofDay / 60).rounded(.down) * 60
        let secondText = second == second.rounded(.down) ? two(Int64(second)) : (second < 10 ? "0\(second)" : "\(second)")
        return "\(date.year)-\(two(date.month))-\(two(date.day)) "
            + "\(two(date.part(.hour))):\(two(date.part(.minute))):\(secondText) UTC"
    }

    private static func uuid(_ bytes: [UInt8]) -> String {
        var text = ""
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text += "-" }
            text += (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return text
    }
}
