import Foundation
import PolyStoreBackend

/// The coding of types that conform to ``AttributeValue``.
public enum DirectCoding<T: AttributeValue> {
    /// The initial value of an attribute without a default value.
    @inlinable public static var initial: T { T.emptyAttribute }
    /// Reads a field.
    /// - Throws: `corrupt` if the field does not contain a valid value.
    @inlinable @inline(__always)
    public static func decode(_ record: RecordView, _ field: Int) throws -> T { try T.decodeAttribute(record, field) }
    /// Writes a field.
    @inlinable
    public static func encode(_ value: T, into builder: inout RecordBuilder, _ field: Int) throws {
        value.encodeAttribute(into: &builder, field)
    }
    /// Returns the declaration of an attribute.
    public static func describe(
        _ name: String, options: [AttributeOption], originalName: String?, default value: T?
    ) -> AttributeDescription {
        ModelCoding.describe(name, T.attributeType, isOptional: T.isOptionalAttribute, options, originalName, value.map(\.attributeValue))
    }
}
