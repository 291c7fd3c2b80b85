import Foundation
import PolyStoreBackend

/// How the code that `@Model` writes stores a property: picks, by the property's type, one of a few codings at compile time.
///
/// `ModelCoding.of(Int.self)` is a type with static functions; nothing of it is left at run time.
public enum ModelCoding {
    /// A type that conforms to ``AttributeValue``.
    @inlinable public static func of<T: AttributeValue>(_ type: T.Type) -> DirectCoding<T>.Type { DirectCoding<T>.self }

    // The order of preference: a direct conformance first; then raw values, as their default argument ranks them behind; then JSON.

    /// An enum with raw values.
    @inlinable
    public static func of<T: RawRepresentable>(_ type: T.Type, _ fallback: Void = ()) -> RawCoding<T>.Type
    where T.RawValue: AttributeValue { RawCoding<T>.self }

    @inlinable
    public static func of<T: RawRepresentable>(_ type: T?.Type, _ fallback: Void = ()) -> OptionalRawCoding<T>.Type
    where T.RawValue: AttributeValue {
        OptionalRawCoding<T>.self
    }

    /// Anything else that is `Codable`, as JSON text.
    @_disfavoredOverload
    public static func of<T: Codable>(_ type: T.Type) -> JSONCoding<T>.Type { JSONCoding<T>.self }

    @_disfavoredOverload
    public static func of<T: Codable>(_ type: T?.Type) -> OptionalJSONCoding<T>.Type { OptionalJSONCoding<T>.self }

    /// A type that cannot be stored. ``ModelCheck`` reports it, once and at the property; everything else that uses it compiles.
    @_disfavoredOverload
    public static func of<T>(_ type: T.Type, _ fallback: Void = ()) -> UnsupportedCoding<T>.Type { UnsupportedCoding<T>.self }

    /// The entity's name, without making its description.
    public static func entityName<T: Model>(_ type: T.Type) -> String { T._$entityName }

    static func describe(
        _ name: String, _ type: AttributeType, isOptional: Bool, _ options: [AttributeOption], _ originalName: String?, _ value: Value?
    ) -> AttributeDescription {
        AttributeDescription(
            name: name, type: type, isOptional: isOptional, isUnique: options.contains(.unique), isIndexed: options.contains(.indexed),
            originalName: originalName, defaultValue: value, rules: options.compactMap(\.rule))
    }
}

public enum DirectCoding<T: AttributeValue> {
    @inlinable public static var initial: T { T.emptyAttribute }
    @inlinable public static func decode(_ record: RecordView, _ field: Int) throws -> T { try T.decodeAttribute(record, field) }
    @inlinable
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        value.encodeAttribute(into: &builder, field)
    }
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        ModelCoding.describe(name, T.attributeType, isOptional: T.isOptionalAttribute, options, originalName, value.map(\.attributeValue))
    }
}

public enum RawCoding<T: RawRepresentable> where T.RawValue: AttributeValue {
    @available(*, unavailable, message: "give an attribute with raw values a default, or make it optional")
    public static var initial: T { preconditionFailure("unavailable") }

    @inlinable
    public static func decode(_ record: RecordView, _ field: Int) throws -> T {
        let raw = try T.RawValue.decodeAttribute(record, field)
        guard let value = T(rawValue: raw) else { throw invalidValue(field, "\(raw) is no raw value of \(T.self).") }
        return value
    }
    @inlinable
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        value.rawValue.encodeAttribute(into: &builder, field)
    }
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        ModelCoding.describe(name, T.RawValue.attributeType, isOptional: false, options, originalName, value.map(\.rawValue.attributeValue))
    }
}

public enum OptionalRawCoding<T: RawRepresentable> where T.RawValue: AttributeValue {
    @inlinable public static var initial: T? { nil }
    @inlinable
    public static func decode(_ record: RecordView, _ field: Int) throws -> T? {
        record.isNull(field) ? nil : try RawCoding<T>.decode(record, field)
    }
    @inlinable
    public static func encode(_ value: T?, into builder: inout RecordBuilder, _ field: Int) throws {
        value?.rawValue.encodeAttribute(into: &builder, field)
    }
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T??
    ) -> AttributeDescription {
        ModelCoding.describe(
            name, T.RawValue.attributeType, isOptional: true, options, originalName, value.map { $0?.rawValue.attributeValue ?? .null })
    }
}

/// A `Codable` value as JSON text with sorted keys.
public enum JSONCoding<T: Codable> {
    @available(*, unavailable, message: "give a Codable attribute a default, or make it optional")
    public static var initial: T { preconditionFailure("unavailable") }

    public static func decode(_ record: RecordView, _ field: Int) throws -> T {
        guard !record.isNull(field) else { throw missingValue(field) }
        do {
            return try JSONDecoder().decode(T.self, from: Data(record.bytes(field)))
        } catch {
            throw StoreError(.corrupt, "The stored JSON is no \(T.self).", attribute: "#\(field)", underlying: "\(error)")
        }
    }

    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        try json(value).withUnsafeBytes { builder.setBytes(field, $0) }
    }

    /// Equal values give equal text, where they are sets too.
    static func json(_ value: T) throws -> Data {
        if let set = value as? any JSONSet { return try set.sortedJSON() }
        return try encoded(value)
    }

    private static func encoded(_ value: T) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return try encoder.encode(value)
        } catch {
            throw StoreError(.invalidValue, "A value of \(T.self) cannot be written as JSON.", underlying: "\(error)")
        }
    }

    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        // A default that cannot be written counts as none: assigning it then fails with the reason.
        let constant = value.flatMap { try? json($0) }.map { Value.text(String(decoding: $0, as: UTF8.self)) }
        return ModelCoding.describe(name, .json, isOptional: false, options, originalName, constant)
    }
}

/// A set, whose elements come in another order each time it is made.
private protocol JSONSet {
    /// An array of the elements, in the order of their texts.
    func sortedJSON() throws -> Data
}

extension Set: JSONSet where Element: Codable {
    fileprivate func sortedJSON() throws -> Data {
        let elements = try map { try JSONCoding<Element>.json($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        return Data("[".utf8) + Data(elements.joined(separator: Data(",".utf8))) + Data("]".utf8)
    }
}

public enum OptionalJSONCoding<T: Codable> {
    public static var initial: T? { nil }
    public static func decode(_ record: RecordView, _ field: Int) throws -> T? {
        record.isNull(field) ? nil : try JSONCoding<T>.decode(record, field)
    }
    public static func encode(_ value: T?, into builder: inout RecordBuilder, _ field: Int) throws {
        if let value { try JSONCoding<T>.encode(value, into: &builder, field) }
    }
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T??
    ) -> AttributeDescription {
        let constant = value.flatMap { $0 }.flatMap { try? JSONCoding<T>.json($0) }.map { Value.text(String(decoding: $0, as: UTF8.self)) }
        return ModelCoding.describe(name, .json, isOptional: true, options, originalName, constant)
    }
}
