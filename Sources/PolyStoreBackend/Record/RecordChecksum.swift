/// The checksum of records that are kept as bytes: CRC-32C (Castagnoli, RFC 3720 appendix B.4), over the key and everything after the checksum.
///
/// A record that lies under another key than its own is found out this way as well.
public enum RecordChecksum {
    static let offset = 8
    static let flag: UInt8 = 1

    /// Writes the checksum into a finished record and marks it as present.
    public static func seal(_ record: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer) {
        guard record.count >= RecordLayout.headerSize else { return }
        record[1] |= flag
        let sum = checksum(UnsafeRawBufferPointer(record), key)
        record.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt32.self)
    }

    /// Whether the record is under its key and undamaged. A record without a checksum passes.
    public static func verify(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bool {
        guard record.count >= RecordLayout.headerSize else { return false }
        guard record[1] & flag != 0 else { return true }
        return UInt32(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) == checksum(record, key)
    }

    /// Whether a record has a checksum.
    public static func isSealed(_ record: UnsafeRawBufferPointer) -> Bool { record.count > 1 && record[1] & flag != 0 }

    private static func checksum(_ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> UInt32 {
        var state: UInt32 = ~0
        update(&state, key)
        update(&state, UnsafeRawBufferPointer(rebasing: record[0..<offset]))
        update(&state, UnsafeRawBufferPointer(rebasing: record[(offset + 4)...]))
        return ~state
    }

    /// The CRC-32C of two stretches of bytes as if they were one.
    public static func crc32c(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> UInt32 {
        var state: UInt32 = ~0
        update(&state, first)
        update(&state, second)
        return ~state
    }

    /// The plain CRC-32C of some bytes.
    public static func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        var state: UInt32 = ~0
        update(&state, bytes)
        return ~state
    }

    private static let tables: [[UInt32]] = {
        let first: [UInt32] = (0..<256).map { byte in
            (0..<8).reduce(UInt32(byte)) { sum, _ in sum & 1 == 1 ? sum >> 1 ^ 0x82f6_3b78 : sum >> 1 }
        }
        var tables = [first]
        for _ in 1..<8 {
            let last = tables[tables.count - 1]
            tables.append(last.map { $0 >> 8 ^ first[Int($0 & 255)] })
        }
        return tables
    }()

    /// Slicing by eight: eight table look-ups a step instead of eight dependent ones.
    private static func update(_ state: inout UInt32, _ bytes: UnsafeRawBufferPointer) {
        let tables = self.tables
        var at = 0
        while at + 8 <= bytes.count {
            let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self)) ^ state
            let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self))
            state =
                tables[7][Int(low & 255)] ^ tables[6][Int(low >> 8 & 255)] ^ tables[5][Int(low >> 16 & 255)] ^ tables[4][Int(low >> 24)]
                ^ tables[3][Int(high & 255)] ^ tables[2][Int(high >> 8 & 255)] ^ tables[1][Int(high >> 16 & 255)]
                ^ tables[0][Int(high >> 24)]
            at += 8
        }
        while at < bytes.count {
            state = state >> 8 ^ tables[0][Int((state ^ UInt32(bytes[at])) & 255)]
            at += 1
        }
    }
}
