import Foundation
import PolyStoreBackend

/// The coding of `Codable` types as JSON text with sorted keys.
public enum JSONCoding<T: Codable> {
    /// The initial value of an attribute without a default value.
    @available(*, unavailable, message: "give a Codable attribute a default, or make it optional")
    public static var initial: T { preconditionFailure("unavailable") }

    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    public static func decode(_ record: RecordView, _ field: Int) throws -> T {
        guard !record.isNull(field) else { throw missingValue(field) }
        do {
            return try JSONDecoder().decode(T.self, from: Data(record.bytes(field)))
        } catch {
            throw StoreError(undecodable: field, "The stored JSON is no \(T.self).", underlying: "\(error)")
        }
    }

    /// Writes a field.
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        try json(value).withUnsafeBytes { builder.setBytes(field, $0) }
    }

    /// Returns JSON that is equal for equal values, including sets.
    package static func json(_ value: T) throws -> Data {
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

    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        // A default value that cannot be encoded is omitted; assigning it then throws the encoding error.
        let constant = value.flatMap { try? json($0) }.map { Value.text(String(decoding: $0, as: UTF8.self)) }
        return ModelCoding.describe(name, .json, isOptional: false, options, originalName, constant)
    }
}

/// A set, whose iteration order varies between instances.
private protocol JSONSet {
    /// Returns an array of the elements, sorted by their JSON text.
    func sortedJSON() throws -> Data
}

extension Set: JSONSet where Element: Codable {
    fileprivate func sortedJSON() throws -> Data {
        let elements = try map { try JSONCoding<Element>.json($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        return Data("[".utf8) + Data(elements.joined(separator: Data(",".utf8))) + Data("]".utf8)
    }
}

/// The coding of optional `Codable` types as JSON text.
public enum OptionalJSONCoding<T: Codable> {
    /// The initial value of an attribute without a default value.
    public static var initial: T? { nil }
    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    public static func decode(_ record: RecordView, _ field: Int) throws -> T? {
        record.isNull(field) ? nil : try JSONCoding<T>.decode(record, field)
    }
    /// Writes a field.
    public static func encode(_ value: T?, into builder: inout RecordBuilder, _ field: Int) throws {
        if let value { try JSONCoding<T>.encode(value, into: &builder, field) }
    }
    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T??
    ) -> AttributeDescription {
        let constant = value.flatMap { $0 }.flatMap { try? JSONCoding<T>.json($0) }.map { Value.text(String(decoding: $0, as: UTF8.self)) }
        return ModelCoding.describe(name, .json, isOptional: true, options, originalName, constant)
    }
}
