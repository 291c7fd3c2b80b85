internal import CRecordChecksum

/// The checksums of records that are kept as bytes: CRC-32C (Castagnoli, RFC 3720 appendix B.4), two of them, so that a walk that looks at fields of
/// fixed width alone need not touch the rest.
///
/// The *head* is everything up to the heap: the header, which fields are null, the fixed fields, the ends. Its sum, over the key and the head, lies in the
/// header: a record under another key than its own is found out as well. The *rest* is everything behind it; its sum, over the head's sum and the rest,
/// follows as the last four bytes, and so belongs to that head and no other.
public enum RecordChecksum {
    static let offset = 8
    static let flag: UInt8 = 1

    /// The bytes behind a record that its second sum takes.
    public static let tailSize = 4

    /// Writes the sums and marks them as present.
    /// - Parameters:
    ///   - record: the finished record, and ``tailSize`` bytes behind it.
    ///   - head: ``RecordLayout/minimumSize``.
    public static func seal(_ record: UnsafeMutableRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize else { return }
        record[1] |= flag
        let sum = polystore_crc32c_head(key.baseAddress, key.count, record.baseAddress, head)
        record.storeBytes(of: sum.littleEndian, toByteOffset: offset, as: UInt32.self)
        let rest = restSum(UnsafeRawBufferPointer(record), head)
        record.storeBytes(of: rest.littleEndian, toByteOffset: record.count - tailSize, as: UInt32.self)
    }

    /// Whether a sealed record's head is under its key and undamaged.
    public static func verifyHead(_ record: UnsafeRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize, isSealed(record) else { return false }
        return word(record, offset) == polystore_crc32c_head(key.baseAddress, key.count, record.baseAddress, head)
    }

    /// Whether what lies behind a sealed record's head is undamaged and belongs to it. Says nothing of the head.
    public static func verifyRest(_ record: UnsafeRawBufferPointer, head: Int) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize else { return false }
        return word(record, record.count - tailSize) == restSum(record, head)
    }

    /// Whether a sealed record is under its key and undamaged.
    public static func verify(_ record: UnsafeRawBufferPointer, head: Int, key: UnsafeRawBufferPointer) -> Bool {
        guard head >= RecordLayout.headerSize, record.count >= head + tailSize, isSealed(record) else { return false }
        return polystore_crc32c_is_sound(key.baseAddress, key.count, record.baseAddress, record.count, head) != 0
    }

    /// Whether a record has checksums.
    public static func isSealed(_ record: UnsafeRawBufferPointer) -> Bool { record.count > 1 && record[1] & flag != 0 }

    /// How many of some records, from the first on, have a sound head. Each has at least as many bytes, and a key of that length.
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
        // The sum as it is kept, not as it was worked out just now: neither waits for the other.
        let state = polystore_crc32c(~0, base + offset, 4)
        return ~polystore_crc32c(state, base + head, record.count - head - tailSize)
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
