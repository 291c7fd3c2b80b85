import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// Encodes the sort key of a row as bytes. Comparing the bytes of two rows with `memcmp` gives the order of the rows.
///
/// The bytes are a sequence of components, one for each sort key. No component is a prefix of another one of the same key. The bytes of a component of a
/// descending key are complemented, except those of null.
///
/// | value | component |
/// |---|---|
/// | null | `00` if nulls come first, otherwise `FF` |
/// | integer | `80` plus the number of bytes, then the bytes of the value, big-endian, without leading zeros |
/// | negative integer | `7F` minus the number of bytes of `-1 - value`, then as many low bytes of the value in two's complement, big-endian |
/// | real | `01`, then the 8 bytes of the bit pattern, big-endian: with the sign bit set, or complemented if the value is negative; zeros for NaN |
/// | text, data | `01`, the bytes with `00` written as `00 FF`, then `00 01` |
struct SortKeyEncoder {
    private let keys: [SortKey]
    /// The evaluator of keys that are not plain fields.
    private let values: SortValues?

    /// - Parameter related: The source of the related objects whose values the keys read.
    init(_ keys: [SortKey], _ related: (any RelatedRecords)?) {
        self.keys = keys
        values = keys.contains { $0.expression != nil } ? SortValues(keys, related) : nil
    }

    /// Replaces the contents of a buffer with the key of a row. The key excludes the row id, which orders rows with equal keys.
    func encode(_ rowID: Int64, _ record: RecordView, into buffer: inout [UInt8]) throws {
        buffer.removeAll(keepingCapacity: true)
        if let values {
            for (key, value) in zip(keys, try values.values(rowID, record)) { Self.append(value, key, to: &buffer) }
            return
        }
        for key in keys { Self.append(rowID, record, key, to: &buffer) }
        // Without sort keys, rows are ordered by row id.
        if keys.isEmpty { Self.append(rowID, isUnsigned: false, to: &buffer) }
    }

    private static func append(_ rowID: Int64, _ record: RecordView, _ key: SortKey, to buffer: inout [UInt8]) {
        let start = buffer.count
        let field = key.field.index
        if key.field.isObjectID {
            append(rowID, isUnsigned: false, to: &buffer)
        } else if record.isNull(field) {
            return buffer.append(key.nullsComeFirst ? 0x00 : 0xFF)
        } else {
            switch key.field.type.physical {
            case .integer: append(record.integer(field), isUnsigned: key.field.isUnsigned, to: &buffer)
            case .real: append(record.real(field), to: &buffer)
            case .text, .blob: append(record.bytes(field), to: &buffer)
            }
        }
        if !key.ascending { complement(&buffer, from: start) }
    }

    private static func append(_ value: Value, _ key: SortKey, to buffer: inout [UInt8]) {
        let start = buffer.count
        switch value {
        case .null: return buffer.append(key.nullsComeFirst ? 0x00 : 0xFF)
        case .integer(let integer): append(integer, isUnsigned: key.field.isUnsigned, to: &buffer)
        case .real(let real): append(real, to: &buffer)
        case .text(var text): text.withUTF8 { append(UnsafeRawBufferPointer($0), to: &buffer) }
        case .blob(let bytes): bytes.withUnsafeBytes { append($0, to: &buffer) }
        }
        if !key.ascending { complement(&buffer, from: start) }
    }

    private static func append(_ value: Int64, isUnsigned: Bool, to buffer: inout [UInt8]) {
        let isNegative = value < 0 && !isUnsigned
        let magnitude = UInt64(bitPattern: isNegative ? ~value : value)
        let count = (64 - magnitude.leadingZeroBitCount + 7) / 8
        buffer.append(isNegative ? 0x7F - UInt8(count) : 0x80 + UInt8(count))
        for index in stride(from: count - 1, through: 0, by: -1) {
            let byte = UInt8(truncatingIfNeeded: magnitude >> UInt64(8 * index))
            buffer.append(isNegative ? ~byte : byte)
        }
    }

    private static func append(_ value: Double, to buffer: inout [UInt8]) {
        // NaN precedes every other number.
        let bits = Value.normalized(value).bitPattern
        let ordered = value.isNaN ? 0 : bits >> 63 == 1 ? ~bits : bits | 1 << 63
        buffer.append(0x01)
        for shift in stride(from: 56, through: 0, by: -8) { buffer.append(UInt8(truncatingIfNeeded: ordered >> UInt64(shift))) }
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
        buffer.append(0x01)
        for byte in bytes {
            buffer.append(byte)
            if byte == 0 { buffer.append(0xFF) }
        }
        buffer.append(0x00)
        buffer.append(0x01)
    }

    private static func complement(_ buffer: inout [UInt8], from start: Int) {
        for index in start..<buffer.count { buffer[index] = ~buffer[index] }
    }
}

/// Determines the section names of rows.
final class SectionNamer {
    private let values: SortValues
    private let type: AttributeType
    private let name: (QueryValue?) -> String
    /// The last result, cached because neighboring rows often have the same value.
    private var last: (value: Value, name: String)?

    /// Creates a namer; `nil` for a list without sections.
    init?(_ query: ListQuery, _ part: ResolvedList.Part, _ related: (any RelatedRecords)?) {
        guard let section = part.section else { return nil }
        values = SortValues([section], related)
        type = section.type
        name = query.sectionName
    }

    func name(_ rowID: Int64, _ record: RecordView) throws -> String {
        let value = try values.values(rowID, record)[0]
        if let last, last.value == value { return last.name }
        let name = name(try QueryValue(value, type))
        last = (value, name)
        return name
    }
}
