import PolyStoreBackend

/// Encodes keys whose `memcmp` order is the order of their components, one key at a time in the same buffer.
///
/// A key consists of a space, fixed parts, and one component per indexed field. A component begins with a tag that sorts types (null first) and is prefix-free,
/// so components need no separator.
///
/// | value | bytes |
/// |---|---|
/// | null | 05 |
/// | false, true | 10, 11 |
/// | integers with sign | 14, big-endian, sign flipped |
/// | `UInt64` | 15, big-endian |
/// | reals | 22, big-endian bits: negative ones complemented, others with the sign flipped; NaN is a lone 20 |
/// | dates | 1A, likewise; NaN is a lone 18 |
/// | decimals | 26 and their ordered bytes, 00 escaped as 00 FF, end 00 01 |
/// | UUIDs | 28 and 16 bytes |
/// | data | 2C, 00 escaped as 00 FF, end 00 01 |
/// | text | 30, the same over UTF-8 |
/// | descending | the complement of every byte, tag and end included |
///
/// A component of variable length that would make the key too long is truncated: its first bytes are followed by 00 02 and a hash of the whole value. Truncated
/// components keep the order up to the truncation, and equality except for hash collisions; readers verify them against the record.
public final class KeyWriter {
    /// The maximum length of a key in bytes: below LMDB's limit of 511, with a margin for bytes that the engine adds.
    public static let longestKey = 480
    private static let hashSize = 8
    /// The number of bytes that end a truncated component.
    private static let cutSize = 2 + hashSize

    private let storage: UnsafeMutableRawPointer
    // Used by one thread; each access is a single load or store.
    @exclusivity(unchecked) private(set) var count = 0
    /// A Boolean value that indicates whether a component was truncated.
    @exclusivity(unchecked) public private(set) var isCut = false

    /// Creates a writer with an empty key.
    public init() { storage = .allocate(byteCount: Self.longestKey + 32, alignment: 8) }

    deinit { storage.deallocate() }

    /// The encoded key, which is valid until the writer is used again.
    public var raw: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }
    /// A copy of the encoded key.
    public var bytes: [UInt8] { [UInt8](raw) }

    /// Removes all bytes.
    public func removeAll() {
        count = 0
        isCut = false
    }

    /// Removes all bytes from an offset on.
    func truncate(_ length: Int) { count = min(count, length) }

    /// Appends one byte.
    public func append(byte: UInt8) {
        storage.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Appends a big-endian integer.
    public func append(_ value: UInt32) {
        storage.storeBytes(of: value.bigEndian, toByteOffset: count, as: UInt32.self)
        count &+= 4
    }

    /// Appends a big-endian integer.
    public func append(_ value: UInt64) {
        storage.storeBytes(of: value.bigEndian, toByteOffset: count, as: UInt64.self)
        count &+= 8
    }

    /// Appends a row id. Negative row ids sort first.
    public func append(id: Int64) { append(UInt64(bitPattern: id) ^ 1 << 63) }

    func append(raw bytes: UnsafeRawBufferPointer) {
        if let source = bytes.baseAddress { (storage + count).copyMemory(from: source, byteCount: bytes.count) }
        count &+= bytes.count
    }

    /// Appends the value of a record's field.
    /// - Parameters:
    ///   - field: The field.
    ///   - record: The record that contains the value.
    ///   - descending: Whether greater values sort first.
    ///   - reserve: The number of bytes that will follow in this key; a long component is truncated to leave space for them.
    public func append(_ field: Field, of record: RecordView, descending: Bool = false, reserve: Int = 8) {
        let start = count
        if record.isNull(field.index) {
            append(byte: 0x05)
        } else {
            switch field.type.physical {
            case .integer: appendInteger(record.integer(field.index), field.type)
            case .real: appendReal(record.real(field.index), isDate: field.type == .date)
            case .text, .blob: appendBytes(record.bytes(field.index), type: field.type, reserve: reserve)
            }
        }
        if descending { complement(from: start) }
    }

    /// Appends a constant of a field's type.
    public func append(_ value: Value, type: AttributeType, descending: Bool = false, reserve: Int = 8) {
        let start = count
        switch value {
        case .null: append(byte: 0x05)
        case .integer(let value): appendInteger(value, type)
        case .real(let value): appendReal(value, isDate: type == .date)
        case .text(var text): text.withUTF8 { appendBytes(UnsafeRawBufferPointer($0), type: type, reserve: reserve) }
        case .blob(let blob): blob.withUnsafeBytes { appendBytes($0, type: type, reserve: reserve) }
        }
        if descending { complement(from: start) }
    }

    /// Appends the ascending prefix that all text or data components with these first bytes share.
    /// - Returns: `false` if the prefix contains only some of the bytes, because a component could be truncated there.
    func appendBeginning(_ bytes: UnsafeRawBufferPointer, type: AttributeType, reserve: Int) -> Bool {
        append(byte: Self.tag(type))
        let last = Self.longestKey - reserve - Self.cutSize
        for byte in bytes {
            if count + (byte == 0 ? 2 : 1) > last { return false }
            append(byte: byte)
            if byte == 0 { append(byte: 0xff) }
        }
        return true
    }

    /// Returns the tag of a type of variable length.
    private static func tag(_ type: AttributeType) -> UInt8 { type == .decimal ? 0x26 : (type.physical == .text ? 0x30 : 0x2c) }

    private func complement(from start: Int) {
        for index in start..<count {
            storage.storeBytes(of: ~storage.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
        }
    }

    private func appendInteger(_ value: Int64, _ type: AttributeType) {
        switch type {
        case .bool: append(byte: value == 0 ? 0x10 : 0x11)
        case .uint64:
            append(byte: 0x15)
            append(UInt64(bitPattern: value))
        default:
            append(byte: 0x14)
            append(UInt64(bitPattern: value) ^ 1 << 63)
        }
    }

    private func appendReal(_ value: Double, isDate: Bool) {
        let tag: UInt8 = isDate ? 0x1a : 0x22
        if value.isNaN { return append(byte: tag - 2) }
        let bits = Value.normalized(value).bitPattern
        append(byte: tag)
        append(bits >> 63 == 1 ? ~bits : bits ^ 1 << 63)
    }

    private func appendBytes(_ source: UnsafeRawBufferPointer, type: AttributeType, reserve: Int) {
        switch type {
        case .uuid where source.count == 16:
            append(byte: 0x28)
            append(raw: source)
        default:
            append(byte: Self.tag(type))
            appendEscaped(source, room: Self.longestKey - count - reserve)
        }
    }

    /// - Parameter room: The number of bytes that the component may take, including its end.
    private func appendEscaped(_ source: UnsafeRawBufferPointer, room: Int) {
        let zeros = source.count + 2 <= room ? source.reduce(0) { $0 + ($1 == 0 ? 1 : 0) } : 0
        let fits = source.count + zeros + 2 <= room
        if fits && zeros == 0 {
            append(raw: source)
        } else {
            let last = count + room - (fits ? 2 : Self.cutSize)
            for byte in source {
                if count + (byte == 0 ? 2 : 1) > last { return cutOff(source) }
                append(byte: byte)
                if byte == 0 { append(byte: 0xff) }
            }
        }
        append(byte: 0x00)
        append(byte: 0x01)
    }

    private func cutOff(_ source: UnsafeRawBufferPointer) {
        isCut = true
        append(byte: 0x00)
        append(byte: 0x02)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in source { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        append(hash)
    }
}
