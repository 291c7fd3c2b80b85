/// The byte layout of the records of an entity. Created once per entity; every field of a record is found in constant time.
///
/// A record is little-endian and unaligned:
///
///     u8 format | u8 flags | u16 layout | u16 fixed length | u16 variable count | u32 CRC-32C |
///     null bitmap | fixed section | u32 end offset per variable field | heap
///
/// The end offsets are relative to the start of the heap.
public final class RecordLayout: Sendable {
    /// The format that this version of the framework writes.
    public static let format: UInt8 = 1
    @usableFromInline package static let headerSize = 12

    /// The name of the entity.
    public let entityName: String
    /// The fields, by field index.
    public let fields: [Field]
    /// The number of bytes before the end offsets: header, bitmap and fixed section.
    @usableFromInline let endsOffset: Int
    @usableFromInline let heapOffset: Int
    @usableFromInline let variableCount: Int
    let fixedLength: Int
    /// The size in bytes of the smallest record, in which every field is null.
    public var minimumSize: Int { heapOffset }
    /// The field slots. Immutable from init to deinit, so any thread may read them.
    @usableFromInline package nonisolated(unsafe) let slots: UnsafeMutablePointer<FieldSlot>

    /// The initial bytes of a record: the header and a bitmap with every field null. Immutable like `slots`.
    @usableFromInline package nonisolated(unsafe) let template: UnsafeMutableRawPointer
    /// The bytes before the end offsets with no field null. Immutable like `slots`.
    @usableFromInline nonisolated(unsafe) let filledTemplate: UnsafeMutableRawPointer

    init(entityName: String, fields: [Field]) {
        self.entityName = entityName
        self.fields = fields
        let bitmap = (fields.count + 7) / 8
        slots = .allocate(capacity: max(fields.count, 1))
        var fixed = 0
        var variable = 0
        for field in fields {
            let width = field.type.fixedWidth
            let position = width > 0 ? Self.headerSize + bitmap + fixed : variable
            (slots + field.index).initialize(to: FieldSlot(position: UInt32(position), code: FieldSlot.Code(field.type)))
            if width > 0 { fixed += width } else { variable += 1 }
        }
        fixedLength = fixed
        variableCount = variable
        endsOffset = Self.headerSize + bitmap + fixed
        heapOffset = endsOffset + 4 * variable
        template = .allocate(byteCount: heapOffset, alignment: 8)
        let bytes = UnsafeMutableRawBufferPointer(start: template, count: heapOffset)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        template.storeBytes(of: Self.format, as: UInt8.self)
        template.storeBytes(of: UInt16(truncatingIfNeeded: fixed).littleEndian, toByteOffset: 4, as: UInt16.self)
        template.storeBytes(of: UInt16(truncatingIfNeeded: variable).littleEndian, toByteOffset: 6, as: UInt16.self)
        for byte in 0..<bitmap { bytes[Self.headerSize + byte] = 0xff }
        filledTemplate = .allocate(byteCount: endsOffset, alignment: 8)
        filledTemplate.copyMemory(from: template, byteCount: endsOffset)
        // The unused bits of the bitmap stay set, so that equal records have equal bytes.
        for field in fields {
            let at = Self.headerSize + field.index >> 3
            let byte = filledTemplate.load(fromByteOffset: at, as: UInt8.self)
            filledTemplate.storeBytes(of: byte & ~(1 << UInt8(field.index & 7)), toByteOffset: at, as: UInt8.self)
        }
    }

    /// Creates the layout of records whose field names are unknown or obsolete.
    /// - Parameter types: The type of each field, by field index.
    package convenience init(entityName: String, types: [AttributeType]) {
        self.init(
            entityName: entityName,
            fields: types.enumerated().map { fieldIndex, type in
                Field(index: fieldIndex, name: "#\(fieldIndex)", type: type, isOptional: true, relationship: nil, defaultValue: nil)
            })
    }

    deinit {
        slots.deallocate()
        template.deallocate()
        filledTemplate.deallocate()
    }
}

/// The location of a field: the offset from the start of the record for a fixed field, or the index among the variable fields.
@usableFromInline
package struct FieldSlot: Sendable {
    /// The encoding of the bytes.
    @usableFromInline
    package enum Code: UInt8, Sendable {
        case int8, uint8, int16, uint16, int32, uint32, int64, float, double, variable

        init(_ type: AttributeType) {
            switch type {
            case .bool, .uint8: self = .uint8
            case .int8: self = .int8
            case .int16: self = .int16
            case .uint16: self = .uint16
            case .int32: self = .int32
            case .uint32: self = .uint32
            case .int64, .uint64: self = .int64
            case .float: self = .float
            case .double, .date: self = .double
            case .decimal, .string, .url, .json, .data, .uuid: self = .variable
            }
        }
    }

    @usableFromInline package var position: UInt32
    @usableFromInline package var code: Code

    /// Writes an integer with the width of the field.
    /// - Returns: `false`, without writing, if the field is not an integer field.
    @inlinable @inline(__always)
    func store(_ value: Int64, in record: UnsafeMutableRawPointer) -> Bool {
        let at = record + Int(position)
        switch code {
        case .int64: at.storeBytes(of: value.littleEndian, as: Int64.self)
        case .uint8, .int8: at.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
        case .int16, .uint16: at.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, as: UInt16.self)
        case .int32, .uint32: at.storeBytes(of: UInt32(truncatingIfNeeded: value).littleEndian, as: UInt32.self)
        case .float, .double, .variable: return false
        }
        return true
    }

    /// Writes a normalized real with the width of the field.
    /// - Returns: `false`, without writing, if the field is not a real field.
    @inlinable @inline(__always)
    func store(_ value: Double, in record: UnsafeMutableRawPointer) -> Bool {
        let at = record + Int(position)
        let value = Value.normalized(value)
        switch code {
        case .double: at.storeBytes(of: value.bitPattern.littleEndian, as: UInt64.self)
        case .float: at.storeBytes(of: Float(value).bitPattern.littleEndian, as: UInt32.self)
        default: return false
        }
        return true
    }
}
