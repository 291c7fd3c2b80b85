import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// The texts with which a form shows and reads the values of an attribute.
///
/// A text that was not changed is never parsed, so that a value without an exact text, such as a date beyond ISO 8601, stays as it is.
package struct FieldText: Sendable {
    /// The greatest number of bytes of a value that a form contains. A larger value is not part of the form, and is kept unless it is replaced.
    package static let limit = 64 << 10

    package let type: AttributeType

    package init(_ type: AttributeType) { self.type = type }

    /// A description of the texts that are accepted, for a reader.
    package var expected: String {
        switch type {
        case .bool: "true or false"
        case .int8, .int16, .int32, .uint8, .uint16, .uint32:
            type.integerBounds.map { "an integer from \($0.lowerBound) to \($0.upperBound)" } ?? "an integer"
        case .int64: "an integer from \(Int64.min) to \(Int64.max)"
        case .uint64: "an integer from 0 to \(UInt64.max)"
        case .float, .double: "a number such as 1.5 or 2e10, NaN, Infinity or -Infinity"
        case .decimal: "a decimal number such as 12.50, with at most 38 digits"
        case .date: "a date such as 2026-01-31 or 2026-01-31T08:00:00Z"
        case .string: "a text"
        case .url: "a URL such as https://example.com"
        case .json: "a value of JSON"
        case .data: "bytes such as hex:00ff or base64:AP8="
        case .uuid: "a UUID such as 123E4567-E89B-12D3-A456-426614174000"
        }
    }

    /// The texts among which to choose; empty if there are too many.
    package var choices: [String] { type == .bool ? ["true", "false"] : [] }

    // MARK: Showing

    /// Returns the text of a value. `isEscaped` is true for a text with characters that a form of HTML does not keep; see ``unescaped(_:)``.
    package func text(_ value: QueryValue) -> (text: String, isEscaped: Bool) {
        switch value {
        case .bool(let bool): return ("\(bool)", false)
        case .integer(let integer): return ("\(integer)", false)
        case .unsigned(let integer): return ("\(integer)", false)
        case .real(let real): return (Self.text(real, isFloat: type == .float), false)
        case .decimal(let decimal): return ((try? decimal.sourceValue(options: .default)).map { "\($0)" } ?? "NaN", false)
        case .date(let date): return (BrowserValue.text(date), false)
        case .text(let text): return Self.isKeptByForms(text) ? (text, false) : (Self.escaped(text), true)
        case .url(let url): return (url.absoluteString, false)
        case .uuid(let uuid): return (uuid.uuidString, false)
        case .data(let data) where data.count <= 32: return ("hex:" + data.map { Self.hex($0) }.joined(), false)
        case .data(let data): return ("base64:" + data.base64EncodedString(), false)
        case .objectID(let id): return ("\(id.rowID)", false)
        }
    }

    /// Returns the number of bytes of a value of variable length; 0 for any other.
    package static func size(_ value: QueryValue) -> Int {
        switch value {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        case .url(let url): url.absoluteString.utf8.count
        default: 0
        }
    }

    private static func text(_ real: Double, isFloat: Bool) -> String {
        let json = isFloat ? JSONNumber(Float(real)) : JSONNumber(real)
        return json?.text ?? (real.isNaN ? "NaN" : real < 0 ? "-Infinity" : "Infinity")
    }

    private static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    // MARK: Escapes

    /// Returns whether an HTML form returns a text unchanged. It may have no noncharacters, and no control characters except tabs and line feeds.
    private static func isKeptByForms(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isKeptByForms) }

    private static func isKeptByForms(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0a, 0x09: true
        case 0..<0x20, 0x7f..<0xa0, 0xfdd0...0xfdef: false
        default: scalar.value & 0xfffe != 0xfffe
        }
    }

    /// Returns a text in which control characters, noncharacters and backslashes are escaped: `\u{0}`, `\r`, `\\`.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\r": result += "\\r"
            case _ where isKeptByForms(scalar): result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }

    /// Returns the text that an escaped one denotes; nil for an invalid escape.
    package static func unescaped(_ text: String) -> String? {
        var (result, rest) = (String.UnicodeScalarView(), Substring(text).unicodeScalars)
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "\\"?: result.append("\\")
            case "r"?: result.append("\r")
            case "n"?: result.append("\n")
            case "t"?: result.append("\t")
            case "u"?:
                guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                    let scalar = UInt32(String(rest[..<end]), radix: 16).flatMap(Unicode.Scalar.init)
                else { return nil }
                result.append(scalar)
                rest = rest[rest.index(after: end)...]
            default: return nil
            }
        }
        return String(result)
    }
}
