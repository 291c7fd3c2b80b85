/// The logical type of an attribute, as a model declares it. Each maps to exactly one ``PhysicalType``, which a store keeps.
///
/// | logical | physical | as |
/// |---|---|---|
/// | `bool`, `int8` … `int64`, `uint8` … `uint32` | integer | its value |
/// | `uint64` | integer | its bit pattern; compared without sign |
/// | `float`, `double` | real | its value; −0 becomes 0, every NaN one NaN |
/// | `date` | real | seconds since 2001-01-01 00:00:00 UTC |
/// | `decimal` | blob | an order-preserving encoding (`memcmp` is the order) |
/// | `string`, `url`, `json` | text | UTF-8 |
/// | `data`, `uuid` | blob | its bytes |
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
    /// A Boolean value, stored as 0 or 1.
    case bool
    /// A signed integer of 8 bits.
    case int8
    /// A signed integer of 16 bits.
    case int16
    /// A signed integer of 32 bits.
    case int32
    /// A signed integer of 64 bits.
    case int64
    /// An unsigned integer of 8 bits.
    case uint8
    /// An unsigned integer of 16 bits.
    case uint16
    /// An unsigned integer of 32 bits.
    case uint32
    /// An unsigned integer of 64 bits, stored with its bit pattern.
    case uint64
    /// A floating-point number of 32 bits.
    case float
    /// A floating-point number of 64 bits.
    case double
    /// A point in time, stored in seconds since 2001-01-01 00:00:00 UTC.
    case date
    /// A decimal number.
    case decimal
    /// A text.
    case string
    /// A URL, stored as its text.
    case url
    /// A `Codable` value, stored as JSON text.
    case json
    /// A sequence of bytes.
    case data
    /// A UUID, stored as its 16 bytes.
    case uuid

    /// The type in which a store keeps the values.
    public var physical: PhysicalType {
        switch self {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64: .integer
        case .float, .double, .date: .real
        case .string, .url, .json: .text
        case .decimal, .data, .uuid: .blob
        }
    }

    /// The size in the fixed section of a record, in bytes; 0 for a type of variable length.
    public var fixedWidth: Int {
        switch self {
        case .bool, .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double, .date: 8
        case .decimal, .string, .url, .json, .data, .uuid: 0
        }
    }

    /// The bounds of an integer type, in the physical integer; `nil` for other types and for the two types of 64 bits.
    public var integerBounds: ClosedRange<Int64>? {
        switch self {
        case .bool: 0...1
        case .int8: -128...127
        case .uint8: 0...255
        case .int16: -32768...32767
        case .uint16: 0...65535
        case .int32: Int64(Int32.min)...Int64(Int32.max)
        case .uint32: 0...Int64(UInt32.max)
        default: nil
        }
    }
}

/// The type of a stored value. An engine supports these four types and null.
public enum PhysicalType: UInt8, Sendable, Hashable, Codable {
    /// A signed integer of 64 bits.
    case integer
    /// A floating-point number of 64 bits.
    case real
    /// A text in UTF-8.
    case text
    /// A sequence of bytes.
    case blob
}

/// A requirement of a model on an attribute.
public struct AttributeOption: Sendable, Hashable {
    let name: String
    /// The rule on values, if the option is a rule.
    package let rule: AttributeRule?

    private init(name: String, rule: AttributeRule? = nil) {
        self.name = name
        self.rule = rule
    }

    package static func rule(_ rule: AttributeRule) -> AttributeOption { AttributeOption(name: "rule", rule: rule) }

    /// No two objects of the entity have the same value. Null is exempt.
    public static let unique = AttributeOption(name: "unique")
    /// The store maintains an index over the attribute.
    public static let indexed = AttributeOption(name: "indexed")
}

/// The effect of deleting an object on the objects at the other end of a relationship.
public enum DeleteRule: String, Sendable, Hashable, Codable {
    /// Clears their reference to the deleted object.
    case nullify
    /// Deletes them too.
    case cascade
    /// Rejects the deletion if there are any.
    case deny
    /// Does nothing; the caller keeps the object graph consistent.
    case noAction
}

extension AttributeType {
    /// A Boolean value that indicates whether the type supports arithmetic. Booleans and decimals do not.
    public var isNumber: Bool {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double: true
        default: false
        }
    }

    /// Returns whether values of both types can be ordered relative to each other.
    public func isComparable(with other: AttributeType) -> Bool {
        if self == other || isNumber && other.isNumber { return true }
        let integers: (AttributeType) -> Bool = { $0.physical == .integer && $0 != .uint64 }
        return integers(self) && integers(other) || physical == .text && other.physical == .text
    }
}
