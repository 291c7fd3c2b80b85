import PolyStoreBackend

/// A Swift type that an attribute can have.
///
/// The types of the standard library and Foundation listed at `AttributeType` conform. Enums with raw values and `Codable` types do
/// not need to conform; the macro selects a coding for them (see ``ModelCoding``).
public protocol AttributeValue: SendableMetatype {
    /// The stored type.
    static var attributeType: AttributeType { get }
    /// A Boolean value that indicates whether the attribute can be null.
    static var isOptionalAttribute: Bool { get }
    /// The initial value of an attribute that is neither optional nor has a default value.
    static var emptyAttribute: Self { get }
    /// Reads a field.
    /// - Throws: `corrupt` if the field is null and the type is not optional, or if the field is not a valid value of the type.
    static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Self
    /// Writes a field.
    func encodeAttribute(into builder: inout RecordBuilder, _ field: Int)
    /// The value as a query constant.
    var attributeValue: Value { get }
}

extension AttributeValue {
    @inlinable public static var isOptionalAttribute: Bool { false }
}

// Out of line, so that decoding is small enough to be inlined into the initializers of models.
@usableFromInline @inline(never)
func missingValue(_ field: Int) -> StoreError {
    StoreError(undecodable: field, "A value is missing that is not optional.")
}

@usableFromInline @inline(never)
func invalidValue(_ field: Int, _ what: String) -> StoreError { StoreError(undecodable: field, what) }

extension Bool: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .bool }
    @inlinable public static var emptyAttribute: Bool { false }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Bool {
        guard !record.isNull(field) else { throw missingValue(field) }
        return record.integer(field) != 0
    }
    @inlinable public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setInteger(field, self ? 1 : 0) }
    @inlinable public var attributeValue: Value { .integer(self ? 1 : 0) }
}

extension AttributeValue where Self: FixedWidthInteger {
    @inlinable public static var emptyAttribute: Self { 0 }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Self {
        guard !record.isNull(field) else { throw missingValue(field) }
        // The field has the width of this type, so the conversion is lossless.
        return Self(truncatingIfNeeded: bitWidth == 64 ? record.integer64(field) : record.integer(field))
    }
    @inlinable
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) {
        builder.setInteger(field, Int64(truncatingIfNeeded: self))
    }
    @inlinable public var attributeValue: Value { .integer(Int64(truncatingIfNeeded: self)) }
}

extension Int: AttributeValue { @inlinable public static var attributeType: AttributeType { .int64 } }
extension Int8: AttributeValue { @inlinable public static var attributeType: AttributeType { .int8 } }
extension Int16: AttributeValue { @inlinable public static var attributeType: AttributeType { .int16 } }
extension Int32: AttributeValue { @inlinable public static var attributeType: AttributeType { .int32 } }
extension Int64: AttributeValue { @inlinable public static var attributeType: AttributeType { .int64 } }
extension UInt: AttributeValue { @inlinable public static var attributeType: AttributeType { .uint64 } }
extension UInt8: AttributeValue { @inlinable public static var attributeType: AttributeType { .uint8 } }
extension UInt16: AttributeValue { @inlinable public static var attributeType: AttributeType { .uint16 } }
extension UInt32: AttributeValue { @inlinable public static var attributeType: AttributeType { .uint32 } }
extension UInt64: AttributeValue { @inlinable public static var attributeType: AttributeType { .uint64 } }

extension Double: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .double }
    @inlinable public static var emptyAttribute: Double { 0 }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Double {
        guard !record.isNull(field) else { throw missingValue(field) }
        return record.real(field)
    }
    @inlinable public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setReal(field, self) }
    @inlinable public var attributeValue: Value { .real(self) }
}

extension Float: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .float }
    @inlinable public static var emptyAttribute: Float { 0 }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Float {
        guard !record.isNull(field) else { throw missingValue(field) }
        return Float(record.real(field))
    }
    @inlinable public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setReal(field, Double(self)) }
    @inlinable public var attributeValue: Value { .real(Double(self)) }
}

extension String: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .string }
    @inlinable public static var emptyAttribute: String { "" }
    @inlinable @inline(__always)
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> String {
        guard !record.isNull(field) else { throw missingValue(field) }
        return record.string(field)
    }
    @inlinable public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setText(field, self) }
    @inlinable public var attributeValue: Value { .text(self) }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
    @inlinable public static var attributeType: AttributeType { Wrapped.attributeType }
    @inlinable public static var isOptionalAttribute: Bool { true }
    @inlinable public static var emptyAttribute: Wrapped? { nil }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Wrapped? {
        record.isNull(field) ? nil : try Wrapped.decodeAttribute(record, field)
    }
    @inlinable
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { self?.encodeAttribute(into: &builder, field) }
    @inlinable public var attributeValue: Value { self?.attributeValue ?? .null }
}
