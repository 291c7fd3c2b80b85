import PolyStoreBackend

/// Decodes keys that ``KeyWriter`` encoded. Total: any bytes yield a value or throw `corrupt`.
public struct KeyReader {
    private let bytes: UnsafeRawBufferPointer
    /// The offset of the next byte to read.
    public private(set) var position: Int

    /// Creates a reader over bytes that must outlive it.
    public init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = position
    }

    /// A Boolean value that indicates whether all bytes have been read.
    public var isAtEnd: Bool { position >= bytes.count }

    /// A decoded component of a key.
    public enum Component: Sendable, Hashable {
        /// A complete value.
        case value(Value)
        /// The first bytes of a truncated value and a hash of the whole value, which is in the record.
        case cut(prefix: [UInt8], hash: UInt64)
    }

    private func corrupt(_ what: String) -> StoreError { StoreError(.corrupt, "A key is damaged at byte \(position): \(what).") }

    /// Reads a big-endian integer. Throws `corrupt` at the end of the bytes.
    public mutating func readUInt32() throws -> UInt32 { UInt32(truncatingIfNeeded: try readBigEndian(4, 0)) }
    /// Reads a big-endian integer. Throws `corrupt` at the end of the bytes.
    public mutating func readUInt64() throws -> UInt64 { try readBigEndian(8, 0) }
    /// Reads a row id.
    public mutating func readID() throws -> Int64 { Int64(bitPattern: try readUInt64() ^ 1 << 63) }

    /// Reads one byte.
    public mutating func readByte() throws -> UInt8 {
        guard position < bytes.count else { throw corrupt("it ends too early") }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func readBigEndian(_ count: Int, _ flip: UInt8) throws -> UInt64 {
        guard count <= bytes.count - position else { throw corrupt("it ends too early") }
        defer { position += count }
        return bytes[position..<position + count].reduce(UInt64(0)) { $0 << 8 | UInt64($1 ^ flip) }
    }

    /// Reads the next component.
    public mutating func readComponent(descending: Bool = false) throws -> Component {
        let flip: UInt8 = descending ? 0xff : 0
        let tag = try readByte() ^ flip
        switch tag {
        case 0x05: return .value(.null)
        case 0x10: return .value(.integer(0))
        case 0x11: return .value(.integer(1))
        case 0x14: return .value(.integer(Int64(bitPattern: try readBigEndian(8, flip) ^ 1 << 63)))
        case 0x15: return .value(.integer(Int64(bitPattern: try readBigEndian(8, flip))))
        case 0x18, 0x20: return .value(.real(.nan))
        case 0x1a, 0x22:
            let ordered = try readBigEndian(8, flip)
            return .value(.real(Double(bitPattern: ordered >> 63 == 1 ? ordered ^ 1 << 63 : ~ordered)))
        case 0x28:
            guard bytes.count - position >= 16 else { throw corrupt("it ends within a UUID") }
            defer { position += 16 }
            return .value(.blob(bytes[position..<position + 16].map { $0 ^ flip }))
        case 0x26, 0x2c, 0x30: return try readEscaped(isText: tag == 0x30, flip)
        default: throw corrupt("there is no type \(tag)")
        }
    }

    private mutating func readEscaped(isText: Bool, _ flip: UInt8) throws -> Component {
        var content: [UInt8] = []
        while true {
            let byte = try readByte() ^ flip
            guard byte == 0 else {
                content.append(byte)
                continue
            }
            switch try readByte() ^ flip {
            case 0xff: content.append(0)
            case 0x01:
                guard isText else { return .value(.blob(content)) }
                return .value(.text(String(decoding: content, as: UTF8.self)))
            case 0x02: return .cut(prefix: content, hash: try readBigEndian(8, flip))
            default: throw corrupt("an escape is unknown")
            }
        }
    }
}
