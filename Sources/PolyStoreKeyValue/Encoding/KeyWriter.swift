import PolyStoreBackend

/// Writes keys whose order under `memcmp` is the order of what they are made of.
///
/// A key is a space, some fixed parts, and components: one per indexed field. A component begins with a tag that sorts types (null first) and is
/// prefix-free, so that one follows another without anything between them.
///
/// | value | bytes |
/// |---|---|
/// | null | 05 |
/// | false, true | 10, 11 |
/// | integers with sign | 14, big-endian, sign flipped |
/// | `UInt64` | 15, big-endian |
/// | reals | 22, big-endian bits: negative ones complemented, others with the sign flipped; NaN is a lone 20 |
/// | dates | 1A, likewise; NaN is a lone 18 |
/// | decimals | 26 and their ordered bytes |
/// | UUIDs | 28 and 16 bytes |
/// | data | 2C, 00 escaped as 00 FF, end 00 01 |
/// | text | 30, the same over UTF-8 |
/// | descending | the complement of every byte, tag and end included |
///
/// A component of variable length that would make the key too long is cut: its first bytes, then 00 02 and a hash of the whole. Cut components keep
/// the order up to the cut, and equality but for collisions; who reads them checks the record.
public struct KeyWriter {
    /// The longest key: below LMDB's 511 bytes with room for what the engine adds.
    public static let longestKey = 480
    private static let hashSize = 8

    public private(set) var bytes: [UInt8] = []
    /// Whether a component was cut.
    public private(set) var isCut = false

    public init() { bytes.reserveCapacity(64) }

    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        isCut = false
    }

    public mutating func append(byte: UInt8) { bytes.append(byte) }

    public mutating func append(_ value: UInt32) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }

    public mutating func append(_ value: UInt64) { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }

    /// An object's id: negative ones first.
    public mutating func append(id: Int64) { append(UInt64(bitPattern: id) ^ 1 << 63) }

    /// The value of a field of a record.
    /// - Parameter reserve: bytes that are still to follow in this key; a long component is cut to leave them room.
    public mutating func append(_ field: Field, of record: RecordView, descending: Bool = false, reserve: Int = 8) {
        if record.isNull(field.ordinal) { return append(.null, type: field.type, descending: descending, reserve: reserve) }
        switch field.type.physical {
        case .integer: append(.integer(record.integer(field.ordinal)), type: field.type, descending: descending, reserve: reserve)
        case .real: append(.real(record.real(field.ordinal)), type: field.type, descending: descending, reserve: reserve)
        case .text, .blob: component(descending) { $0.appendBytes(record.bytes(field.ordinal), type: field.type, reserve: reserve) }
        }
    }

    /// A constant of a field's type.
    public mutating func append(_ value: Value, type: AttributeType, descending: Bool = false, reserve: Int = 8) {
        component(descending) { writer in
            switch value {
            case .null: writer.bytes.append(0x05)
            case .integer(let value): writer.appendInteger(value, type)
            case .real(let value): writer.appendReal(value, isDate: type == .date)
            case .text(var text): text.withUTF8 { writer.appendBytes(UnsafeRawBufferPointer($0), type: type, reserve: reserve) }
            case .blob(let blob): blob.withUnsafeBytes { writer.appendBytes($0, type: type, reserve: reserve) }
            }
        }
    }

    private mutating func component(_ descending: Bool, _ body: (inout KeyWriter) -> Void) {
        let start = bytes.count
        body(&self)
        if descending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
    }

    private mutating func appendInteger(_ value: Int64, _ type: AttributeType) {
        switch type {
        case .bool: bytes.append(value == 0 ? 0x10 : 0x11)
        case .uint64:
            bytes.append(0x15)
            append(UInt64(bitPattern: value))
        default:
            bytes.append(0x14)
            append(UInt64(bitPattern: value) ^ 1 << 63)
        }
    }

    private mutating func appendReal(_ value: Double, isDate: Bool) {
        let tag: UInt8 = isDate ? 0x1a : 0x22
        if value.isNaN { return bytes.append(tag - 2) }
        let bits = Value.normalized(value).bitPattern
        bytes.append(tag)
        append(bits >> 63 == 1 ? ~bits : bits ^ 1 << 63)
    }

    private mutating func appendBytes(_ source: UnsafeRawBufferPointer, type: AttributeType, reserve: Int) {
        switch type {
        case .decimal where bytes.count + source.count + 1 + reserve <= Self.longestKey:
            // Prefix-free by itself: every form says how long it is, or ends in a byte that its digits never have.
            bytes.append(0x26)
            bytes.append(contentsOf: source)
        case .uuid where source.count == 16:
            bytes.append(0x28)
            bytes.append(contentsOf: source)
        default:
            bytes.append(type.physical == .text ? 0x30 : 0x2c)
            appendEscaped(source, room: Self.longestKey - bytes.count - reserve)
        }
    }

    /// - Parameter room: bytes that the component may take from here on, its end included.
    private mutating func appendEscaped(_ source: UnsafeRawBufferPointer, room: Int) {
        let fits = source.count + 2 <= room && source.count + source.reduce(0) { $0 + ($1 == 0 ? 1 : 0) } + 2 <= room
        let last = bytes.count + room - 2 - (fits ? 0 : Self.hashSize)
        for byte in source {
            if bytes.count + (byte == 0 ? 2 : 1) > last { return cutOff(source) }
            bytes.append(byte)
            if byte == 0 { bytes.append(0xff) }
        }
        bytes.append(contentsOf: [0x00, 0x01])
    }

    private mutating func cutOff(_ source: UnsafeRawBufferPointer) {
        isCut = true
        bytes.append(contentsOf: [0x00, 0x02])
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in source { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        append(hash)
    }
}
