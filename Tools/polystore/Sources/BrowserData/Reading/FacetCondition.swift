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
        case .real(let value)?: real(path, value)
        case .text(let value)?: text(path, value)
        case .url(let value)?: text(path, value.absoluteString)
        case .date(let value)?: "\(path) == \(date(value.timeIntervalSinceReferenceDate))"
        case .uuid(let value)?: "\(path) == CAST('\(value.uuidString)', 'NSUUID')"
        case .decimal(let value)?: "\(path) == CAST('\(value)', 'NSDecimalNumber')"
        case .data?: "\(path) != NULL"
        case .objectID(let value)?: "\(path).objectID == \(value.rowID)"
        }
    }

    private static func real(_ path: String, _ value: Double) -> String {
        if value.isNaN { return "\(path) != NULL AND NOT \(path) >= \(least(.double)) AND NOT \(path) > \(greatest(.double))" }
        if value.isInfinite { return value > 0 ? "\(path) > \(greatest(.double))" : "\(path) < \(least(.double))" }
        return "\(path) == \(number(value))"
    }

    /// A long text is found by its beginning and its length, so that the condition fits into an address.
    private static func text(_ path: String, _ value: String) -> String {
        guard value.utf8.count > 1000 else { return "\(path) == '\(value.escapedForText)'" }
        return "\(path) BEGINSWITH '\(String(value.prefix(200)).escapedForText)' AND length(\(path)) == \(value.count)"
    }

    /// Returns a real as format strings have it.
    static func number(_ value: Double) -> String { value == value.rounded() && value.magnitude < 1e15 ? "\(Int64(value))" : "\(value)" }

    /// Returns a date as format strings have it.
    static func date(_ seconds: Double) -> String { "CAST(\(number(seconds)), 'NSDate')" }

    /// Returns the least finite value of a type.
    static func least(_ type: AttributeType?) -> String {
        type == .date ? date(-Double.greatestFiniteMagnitude) : "\(-Double.greatestFiniteMagnitude)"
    }

    /// Returns the greatest finite value of a type.
    static func greatest(_ type: AttributeType?) -> String {
        type == .date ? date(Double.greatestFiniteMagnitude) : "\(Double.greatestFiniteMagnitude)"
    }
}
