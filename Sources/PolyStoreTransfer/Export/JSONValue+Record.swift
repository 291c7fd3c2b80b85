import Foundation
import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

extension JSONValue {
    /// Creates the JSON form of an attribute, which an import can read back: numbers exactly, dates in ISO 8601, data in base64, Codable values as JSON.
    /// - Throws: `corrupt` if the bytes are not a valid value.
    init(_ record: RecordView, _ field: Field) throws {
        let fieldIndex = field.index
        if record.isNull(fieldIndex) {
            self = .null
            return
        }
        switch field.type {
        case .bool: self = .bool(record.integer(fieldIndex) != 0)
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32: self = .number(JSONNumber(record.integer(fieldIndex)))
        case .uint64: self = .number(JSONNumber(UInt64(bitPattern: record.integer(fieldIndex))))
        case .float:
            let value = Float(record.real(fieldIndex))
            self = JSONNumber(value).map { .number($0) } ?? Self.special(Double(value))
        case .double:
            let value = record.real(fieldIndex)
            self = JSONNumber(value).map { .number($0) } ?? Self.special(value)
        case .date: self = try Self.date(record.real(fieldIndex), field)
        case .string, .url: self = .string(record.string(fieldIndex))
        case .json: self = try Self.json(record.bytes(fieldIndex), field)
        case .decimal:
            guard let decimal = Decimal(orderedBytes: record.bytes(fieldIndex)) else { throw Self.corrupt(field) }
            self = JSONNumber(decimal).map { .number($0) } ?? .string("NaN")
        case .data: self = .string(Data(record.bytes(fieldIndex)).base64EncodedString())
        case .uuid:
            let bytes = record.bytes(fieldIndex)
            guard bytes.count == 16 else { throw Self.corrupt(field) }
            self = .string(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString)
        }
    }

    private static func special(_ value: Double) -> JSONValue { .string(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity") }

    private static func date(_ seconds: Double, _ field: Field) throws -> JSONValue {
        do {
            return try Date(timeIntervalSinceReferenceDate: seconds).sourceValue(options: .default)
        } catch {
            throw StoreError(
                .invalidValue,
                "\(field.name) is a date that ISO 8601 cannot express: \(seconds) seconds from 2001. Leave the attribute out.",
                attribute: field.name)
        }
    }

    private static func json(_ bytes: UnsafeRawBufferPointer, _ field: Field) throws -> JSONValue {
        do { return try JSONValue(parsing: bytes) } catch { throw corrupt(field, "\(error)") }
    }

    private static func corrupt(_ field: Field, _ underlying: String? = nil) -> StoreError {
        StoreError(
            .corrupt, "The stored value of \(field.name) is damaged: its bytes are no \(field.type).", attribute: field.name,
            underlying: underlying)
    }
}
