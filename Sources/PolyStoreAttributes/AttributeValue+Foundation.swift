public import Foundation
import PolyStoreBackend

extension Date: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .date }
    /// 2001-01-01 00:00:00 UTC, Foundation's reference date.
    @inlinable public static var emptyAttribute: Date { Date(timeIntervalSinceReferenceDate: 0) }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Date {
        guard !record.isNull(field) else { throw missingValue(field) }
        return Date(timeIntervalSinceReferenceDate: record.real(field))
    }
    @inlinable
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setReal(field, timeIntervalSinceReferenceDate) }
    @inlinable public var attributeValue: Value { .real(timeIntervalSinceReferenceDate) }
}

extension Data: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .data }
    @inlinable public static var emptyAttribute: Data { Data() }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Data {
        guard !record.isNull(field) else { throw missingValue(field) }
        return Data(record.bytes(field))
    }
    @inlinable
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { withUnsafeBytes { builder.setBytes(field, $0) } }
    @inlinable public var attributeValue: Value { .blob([UInt8](self)) }
}

extension UUID: AttributeValue {
    @inlinable public static var attributeType: AttributeType { .uuid }
    /// 00000000-0000-0000-0000-000000000000.
    @inlinable public static var emptyAttribute: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    @inlinable
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> UUID {
        guard !record.isNull(field) else { throw missingValue(field) }
        let bytes = record.bytes(field)
        guard bytes.count == 16 else { throw invalidValue(field, "A UUID has 16 bytes, not \(bytes.count).") }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
    @inlinable
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) {
        withUnsafeBytes(of: uuid) { builder.setBytes(field, $0) }
    }
    @inlinable public var attributeValue: Value { withUnsafeBytes(of: uuid) { .blob([UInt8]($0)) } }
}

extension URL: AttributeValue {
    public static var attributeType: AttributeType { .url }
    /// `about:blank`: a URL cannot be empty.
    public static var emptyAttribute: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> URL {
        guard !record.isNull(field) else { throw missingValue(field) }
        let text = record.string(field)
        guard let url = URL(string: text) else { throw invalidValue(field, "\"\(text)\" is no URL.") }
        return url
    }
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) { builder.setText(field, absoluteString) }
    public var attributeValue: Value { .text(absoluteString) }
}

extension Decimal: AttributeValue {
    public static var attributeType: AttributeType { .decimal }
    public static var emptyAttribute: Decimal { 0 }
    public static func decodeAttribute(_ record: RecordView, _ field: Int) throws -> Decimal {
        guard !record.isNull(field) else { throw missingValue(field) }
        guard let value = Decimal(orderedBytes: record.bytes(field)) else {
            throw invalidValue(field, "The bytes are not a decimal number.")
        }
        return value
    }
    public func encodeAttribute(into builder: inout RecordBuilder, _ field: Int) {
        orderedBytes.withUnsafeBytes { builder.setBytes(field, $0) }
    }
    public var attributeValue: Value { .blob(orderedBytes) }
}
