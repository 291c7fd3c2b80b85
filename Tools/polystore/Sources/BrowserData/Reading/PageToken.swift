import Foundation
import PolyStoreCore

/// The place of a row in an order: its value and its id. A row that is deleted meanwhile keeps its place.
package struct PageToken: Sendable, Hashable, CustomStringConvertible {
    /// The value of the row, as a text with its type.
    private let value: String
    /// The id of the row; for rows in the order of their scores the number of rows before.
    let rowID: Int64

    /// Creates the token of a row.
    init(value: QueryValue?, rowID: Int64) {
        self.rowID = rowID
        self.value = Self.encoded(value)
    }

    /// Reads a token from an address; nil for a text that is none.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest * 2 + 100, let dot = text.firstIndex(of: "."), let rowID = Int64(text[..<dot]),
            let data = Data(base64Encoded: Self.padded(text[text.index(after: dot)...])),
            let value = String(validating: data, as: UTF8.self)
        else { return nil }
        (self.rowID, self.value) = (rowID, value)
        guard Self.decoded(value) != nil else { return nil }
    }

    /// The token as an address contains it: letters, digits, `.`, `-` and `_`.
    package var description: String {
        let text = Data(value.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "\(rowID).\(text)"
    }

    /// The greatest number of bytes of a text or of bytes in a token. The value of a longer one is read from the row, and compared with a fingerprint.
    static let longest = 600

    /// The value of the row.
    enum Value: Equatable {
        case value(QueryValue?)
        /// The id of a related object.
        case row(Int64)
        /// A value that is too long for an address: it is that of the row, if it still has the fingerprint.
        case tooLong(fingerprint: String)
    }

    /// The value of the row.
    var place: Value { Self.decoded(value) ?? .value(nil) }

    /// Returns a short text that differs for different values.
    static func fingerprint(_ value: QueryValue?) -> String {
        var fingerprint = Fingerprint()
        fingerprint.add(value)
        return fingerprint.text
    }

    private static func padded(_ text: Substring) -> String {
        let text = text.replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    private static func encoded(_ value: QueryValue?) -> String {
        switch value {
        case nil: return "n"
        case .bool(let value)?: return value ? "b1" : "b0"
        case .integer(let value)?: return "i\(value)"
        case .unsigned(let value)?: return "u\(value)"
        case .real(let value)?: return "r\(value.bitPattern)"
        case .date(let value)?: return "d\(value.timeIntervalSinceReferenceDate.bitPattern)"
        case .text(let value)?: return value.utf8.count > longest ? long(.text(value)) : "t" + value
        case .url(let value)?: return value.absoluteString.utf8.count > longest ? long(.url(value)) : "a" + value.absoluteString
        case .data(let value)?: return value.count > longest ? long(.data(value)) : "x" + value.base64EncodedString()
        case .uuid(let value)?: return "g" + value.uuidString
        case .decimal(let value)?: return "c" + (value.isNaN ? "NaN" : "\(value)")
        case .objectID(let value)?: return "o\(value.rowID)"
        }
    }

    private static func long(_ value: QueryValue) -> String { "l" + fingerprint(value) }

    private static func decoded(_ text: String) -> Value? {
        // The first character of the text can be a combining one, which is a part of the tag as a Character.
        let rest = String(text.unicodeScalars.dropFirst())
        func value<T>(_ value: T?, _ make: (T) -> QueryValue) -> Value? { value.map { .value(make($0)) } }
        switch text.unicodeScalars.first {
        case "n": return .value(nil)
        case "l": return rest.isEmpty ? nil : .tooLong(fingerprint: rest)
        case "b": return .value(.bool(rest == "1"))
        case "i": return value(Int64(rest)) { .integer($0) }
        case "u": return value(UInt64(rest)) { .unsigned($0) }
        case "r": return value(UInt64(rest)) { .real(Double(bitPattern: $0)) }
        case "d": return value(UInt64(rest)) { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case "t": return .value(.text(rest))
        case "a": return value(URL(string: rest)) { .url($0) }
        case "x": return value(Data(base64Encoded: rest)) { .data($0) }
        case "g": return value(UUID(uuidString: rest)) { .uuid($0) }
        case "c": return value(rest == "NaN" ? Decimal.nan : Decimal(string: rest)) { .decimal($0) }
        case "o": return Int64(rest).map { .row($0) }
        default: return nil
        }
    }
}
