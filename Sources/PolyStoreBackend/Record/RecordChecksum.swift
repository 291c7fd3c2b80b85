internal import CRecordBytes

/// The checksums of stored records: two CRC-32C values (Castagnoli, RFC 3720 appendix B.4), so that a scan that reads only fields of fixed width does not have
/// to read the rest.
///
/// The *head* is everything before the heap: the header, the null bitmap, the fixed fields and the end offsets. Its checksum covers the key and the head and is
/// stored in the header, so a record stored under a wrong key is detected. The *rest* is the heap. Its checksum covers the checksum of the head and the heap
/// and is stored in the last four bytes, which ties the rest to its head.
public enum RecordChecksum {
    static let offset = 8
    static let flag: UInt8 = 1

    /// The number of bytes that the second checksum adds after a record.
    public static let tailSize = 4

    /// Writes both checksums and marks them as present.
    /// - Parameters:
    ///   - record: The finished record, followed by ``tailSize`` bytes.
    ///   - head: ``RecordLayout/minimumSize``.
    ///   - key: The key that the record is stored under.
    public static func seal(_ record: UnsafeMutableRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize else { return }
        record[1] |= flag
        let sum = polystore_crc32c_head(key.baseAddress, key.count, record.baseAddress, head)
        record.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt32.self)
        let rest = restSum(UnsafeRawBufferPointer(record), head)
        record.storeBytes(of: rest.littleEndian, toByteOffset: record.count - tailSize, as: UInt32.self)
    }

    /// Returns whether the head of a sealed record is undamaged and belongs to the key.
    public static func verifyHead(_ record: UnsafeRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize, isSealed(record) else { return false }
        return word(record, offset) == polystore_crc32c_head(key.baseAddress, key.count, record.baseAddress, head)
    }

    /// Returns whether the bytes after the head of a sealed record are undamaged and belong to the head. Does not check the head.
    public static func verifyRest(_ record: UnsafeRawBufferPointer, head: Int) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize else { return false }
        return word(record, record.count - tailSize) == restSum(record, head)
    }

    /// Returns whether a sealed record is undamaged and belongs to the key.
    public static func verify(_ record: UnsafeRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize, isSealed(record) else { return false }
        return polystore_crc32c_is_sound(key.baseAddress, key.count, record.baseAddress, record.count, head) != 0
    }

    /// Returns whether a record has checksums.
    public static func isSealed(_ record: UnsafeRawBufferPointer) -> Bool { record.count > 1 && record[1] & flag != 0 }

    /// Returns the number of leading records with a valid head. Each record has at least `head` bytes, and each key `keyCount` bytes.
    package static func soundHeads(
        _ records: UnsafePointer<UnsafeRawPointer?>, keys: UnsafePointer<UnsafeRawPointer?>, keyCount: Int, head: Int, count: Int
    ) -> Int {
        polystore_crc32c_heads(keys, keyCount, records, head, count)
    }

    @inline(__always)
    private static func word(_ record: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
        UInt32(littleEndian: record.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }

    @inline(__always)
    private static func restSum(_ record: UnsafeRawBufferPointer, _ head: Int) -> UInt32 {
        guard let base = record.baseAddress else { return 0 }
        // Uses the stored checksum instead of the computed one, so that the two computations do not depend on each other.
        let state = polystore_crc32c(~0, base + offset, 4)
        return ~polystore_crc32c(state, base + head, record.count - head - tailSize)
    }

    /// Returns the CRC-32C of two byte ranges as if they were concatenated.
    public static func crc32c(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> UInt32 {
        var state: UInt32 = ~0
        update(&state, first)
        update(&state, second)
        return ~state
    }

    /// Returns the CRC-32C of a byte range.
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
