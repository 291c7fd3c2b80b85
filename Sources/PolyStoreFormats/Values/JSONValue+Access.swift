import Foundation

extension JSONValue {
    /// A Boolean value that indicates whether the value is null.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The text of a string; nil for any other value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }

    /// The value of a Boolean; nil for any other value.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number; nil for any other value.
    public var number: JSONNumber? { if case .number(let number) = self { number } else { nil } }

    /// The number as an `Int`; nil for any other value, a fraction, or a number out of range.
    public var int: Int? { number?.integer() }

    /// The number as an `Int64`; nil for any other value, a fraction, or a number out of range.
    public var int64: Int64? { number?.integer() }

    /// The number as the nearest `Double`; nil for any other value or a number out of range.
    public var double: Double? { number?.double }

    /// The number as a `Decimal`; nil for any other value or a number that a `Decimal` cannot express exactly.
    public var decimal: Decimal? { number?.decimal }

    /// The elements of an array; nil for any other value.
    public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The fields of an object; nil for any other value.
    public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }

    /// The field `name` of an object; nil for any other value or a missing field.
    public subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at `index` of an array; nil for any other value or an index out of range.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// Returns the value at a path of field names and array indexes, such as `address.city` or `tags.0`.
    public func value(at path: String) -> JSONValue? {
        var current = self
        for step in path.split(separator: ".", omittingEmptySubsequences: false) {
            switch current {
            case .object(let object):
                guard let next = object[String(step)] else { return nil }
                current = next
            case .array(let elements):
                guard let index = Int(step), elements.indices.contains(index) else { return nil }
                current = elements[index]
            default: return nil
            }
        }
        return current
    }
}
