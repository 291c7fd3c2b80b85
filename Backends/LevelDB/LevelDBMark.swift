import CRecordBytes
import PolyStorePlatform

/// A lower bound of the durable part of the write-ahead logs: all logs before one, and a prefix of that one. Stored in this library's lock file.
///
/// It is written with every `.full` commit and not flushed. A power failure may restore an earlier mark, which is also correct, because log numbers are never
/// reused. It distinguishes damage from the torn end that a crash leaves.
struct LevelDBMark: Equatable {
    var log: UInt64
    var size: UInt64

    private static let name: UInt64 = 0x314b_5241_4d42_4450
    private static let byteCount = 28

    /// - Returns: `nil` if the mark is missing or damaged.
    static func read(_ descriptor: Int32) -> LevelDBMark? {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes in
            guard pread(descriptor, bytes.baseAddress, byteCount, 0) == byteCount else { return nil }
            func word(_ offset: Int) -> UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
            let sum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self))
            guard word(0) == name, ~polystore_crc32c(0xffff_ffff, bytes.baseAddress, 24) == sum else { return nil }
            return LevelDBMark(log: word(8), size: word(16))
        }
    }

    /// Replaces the mark.
    /// - Returns: whether that succeeded; otherwise the file may still contain the earlier mark.
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
