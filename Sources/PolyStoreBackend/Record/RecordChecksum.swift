internal import CRecordChecksum

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

    @inline(__always)
    private static func checksum(_ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> UInt32 {
        polystore_crc32c_record(key.baseAddress, key.count, record.baseAddress, record.count)
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

    @inline(__always)
    private static func update(_ state: inout UInt32, _ bytes: UnsafeRawBufferPointer) {
        state = polystore_crc32c(state, bytes.baseAddress, bytes.count)
    }
}
