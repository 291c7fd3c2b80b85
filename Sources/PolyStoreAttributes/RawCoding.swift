import Foundation
import PolyStoreBackend

/// The coding of enums with raw values.
public enum RawCoding<T: RawRepresentable> where T.RawValue: AttributeValue {
    /// The initial value of an attribute without a default value.
    @available(*, unavailable, message: "give an attribute with raw values a default, or make it optional")
    public static var initial: T { preconditionFailure("unavailable") }

    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    @inlinable
    public static func decode(_ record: RecordView, _ field: Int) throws -> T {
        let raw = try T.RawValue.decodeAttribute(record, field)
        guard let value = T(rawValue: raw) else { throw invalidValue(field, "\(raw) is not a raw value of \(T.self).") }
        return value
    }
    /// Writes a field.
    @inlinable
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        value.rawValue.encodeAttribute(into: &builder, field)
    }
    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        ModelCoding.describe(name, T.RawValue.attributeType, isOptional: false, options, originalName, value.map(\.rawValue.attributeValue))
    }
}

/// The coding of optional enums with raw values.
public enum OptionalRawCoding<T: RawRepresentable> where T.RawValue: AttributeValue {
    /// The initial value of an attribute without a default value.
    @inlinable public static var initial: T? { nil }
    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    @inlinable
    public static func decode(_ record: RecordView, _ field: Int) throws -> T? {
        record.isNull(field) ? nil : try RawCoding<T>.decode(record, field)
    }
    /// Writes a field.
    @inlinable
    public static func encode(_ value: T?, into builder: inout RecordBuilder, _ field: Int) throws {
        value?.rawValue.encodeAttribute(into: &builder, field)
    }
    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T??
    ) -> AttributeDescription {
        ModelCoding.describe(
            name, T.RawValue.attributeType, isOptional: true, options, originalName, value.map { $0?.rawValue.attributeValue ?? .null })
    }
}
