import CRecordChecksum

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How much of the write-ahead logs was durable at some time: all logs before one, and the first bytes of that one. Kept in this library's lock
/// file.
///
/// It is written with every `.full` commit and not flushed, so a power cut may leave an earlier one, which is true as well: log numbers are never
/// used again. It tells damage from the torn end that a crash leaves behind.
struct LevelDBMark: Equatable {
    var log: UInt64
    var size: UInt64

    private static let name: UInt64 = 0x314b_5241_4d42_4450
    private static let byteCount = 28

    /// - Returns: nil if there is none, or a damaged one.
    static func read(_ descriptor: Int32) -> LevelDBMark? {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
            guard pread(descriptor, bytes.baseAddress, byteCount, 0) == byteCount else { return nil }
            func word(_ offset: Int) -> UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
            let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
            guard word(0) == name, ~polystore_crc32c(0xffff_ffff, bytes.baseAddress, 24) == sum else { return nil }
            return LevelDBMark(log: word(8), size: word(16))
        }
    }

    /// Writes it in the place of the earlier one.
    /// - Returns: whether that succeeded; otherwise the earlier one may still be there.
    @discardableResult
    func write(_ descriptor: Int32) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
            bytes.storeBytes(of: Self.name.littleEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: log.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: size.littleEndian, toByteOffset: 16, as: UInt64.self)
            let sum = ~polystore_crc32c(0xffff_ffff, bytes.baseAddress, 24)
            bytes.storeBytes(of: sum.littleEndian, toByteOffset: 24, as: UInt32.self)
            return pwrite(descriptor, bytes.baseAddress, Self.byteCount, 0) == Self.byteCount
        }
    }
}
