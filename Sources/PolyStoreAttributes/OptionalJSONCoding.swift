import Foundation
import PolyStoreBackend

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
