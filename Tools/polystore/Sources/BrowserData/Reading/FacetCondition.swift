import Foundation
import PolyStoreBackend
import PolyStoreCore

/// Conditions on one value, as a user could write them.
enum FacetCondition {
    /// Returns the condition that a property has a value.
    static func of(_ path: String, _ value: QueryValue?) -> String {
        switch value {
        case nil: "\(path) == NULL"
        case .bool(let value)?: "\(path) == \(value ? "TRUE" : "FALSE")"
        case .integer(let value)?: "\(path) == \(value)"
        case .unsigned(let value)?: "\(path) == \(value)"
        case .real(let value)?: "\(path) == \(real(value))"
        case .text(let value)?: text(path, value)
        case .url(let value)?: text(path, value.absoluteString)
        case .date(let value)?: "\(path) == \(date(value.timeIntervalSinceReferenceDate))"
        case .uuid(let value)?: "\(path) == CAST('\(value.uuidString)', 'NSUUID')"
        // Format strings have no word for NaN, which is less than any other.
        case .decimal(let value)?: value.isNaN ? "\(path) < \(least(.decimal))" : "\(path) == \(decimal(value))"
        case .data?: "\(path) != NULL"
        // Format strings have no ids of objects.
        case .objectID?: ""
        }
    }

    /// Returns any real as format strings have it.
    private static func real(_ value: Double) -> String {
        // Format strings have no words for these values.
        if value.isNaN { return "1e300 * 1e300 - 1e300 * 1e300" }
        if value.isInfinite { return "\(value < 0 ? "-" : "")1e300 * 1e300" }
        return number(value)
    }

    /// Whether a condition selects texts that are about the same as a value: those with its length, beginning and end, since the whole does not fit into an address.
    static func isAbout(_ value: QueryValue?) -> Bool {
        switch value {
        case .text(let text)?: text.utf8.count > 1000
        case .url(let url)?: url.absoluteString.utf8.count > 1000
        default: false
        }
    }

    private static func text(_ path: String, _ value: String) -> String {
        guard isAbout(.text(value)) else { return "\(path) == '\(value.escapedForText)'" }
        let (start, end) = (String(value.prefix(150)).escapedForText, String(value.suffix(150)).escapedForText)
        return "\(path) BEGINSWITH '\(start)' AND \(path) ENDSWITH '\(end)' AND length(\(path)) == \(value.count)"
    }

    /// Returns a real as format strings have it.
    static func number(_ value: Double) -> String { value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)" }

    /// Returns a decimal as format strings have it. One with more digits than a real is composed of parts.
    static func decimal(_ value: Decimal) -> String {
        let real = NSDecimalNumber(decimal: value).doubleValue
        if value.isNaN || Decimal(string: "\(real)") == value { return value.isNaN ? "NULL" : "CAST(\(number(real)), 'NSDecimalNumber')" }
        let text = NSDecimalNumber(decimal: value.magnitude).description(withLocale: nil).split(separator: ".")
        var (digits, fraction) = (text.joined(), text.count > 1 ? text[1].count : 0)
        while digits.hasSuffix("0"), fraction > 0 { (digits, fraction) = (String(digits.dropLast()), fraction - 1) }
        var parts: [String] = []
        while !digits.isEmpty {
            parts.insert(String(Int64(digits.suffix(15)) ?? 0), at: 0)
            digits = String(digits.dropLast(15))
        }
        var expression = "CAST(\(parts.first ?? "0"), 'NSDecimalNumber')"
        for part in parts.dropFirst() { expression = "(\(expression) * 1000000000000000 + \(part))" }
        if fraction > 0 { expression += " * CAST(1e-\(fraction), 'NSDecimalNumber')" }
        return value < 0 ? "-(\(expression))" : expression
    }

    /// Returns a date as format strings have it.
    static func date(_ seconds: Double) -> String { "CAST(\(real(seconds)), 'NSDate')" }

    /// Returns the condition that a value is neither null nor infinite nor NaN.
    static func finite(_ path: String, _ type: AttributeType?) -> String {
        // All integers are finite, and no integer of 64 bits equals the bounds of reals, so that a server could not compare with those by an index.
        isInteger(type) ? "\(path) != NULL" : "\(path) >= \(least(type)) AND \(path) <= \(greatest(type))"
    }

    static func isInteger(_ type: AttributeType?) -> Bool {
        switch type {
        case .int8?, .int16?, .int32?, .int64?, .uint8?, .uint16?, .uint32?, .uint64?: true
        default: false
        }
    }

    /// Returns the least finite value of a type.
    static func least(_ type: AttributeType?) -> String {
        type == .date ? date(-Double.greatestFiniteMagnitude) : "\(-Double.greatestFiniteMagnitude)"
    }

    /// Returns the greatest finite value of a type.
    static func greatest(_ type: AttributeType?) -> String {
        type == .date ? date(Double.greatestFiniteMagnitude) : "\(Double.greatestFiniteMagnitude)"
    }
}
