import CRecordBytes
import PolyStoreBackend
import PolyStorePlatform

/// A reader of files in LevelDB's log format: a write-ahead log, or a MANIFEST.
///
/// The file consists of blocks of 32 KiB. A block holds fragments: a masked CRC-32C (u32) of type and payload, the payload's length (u16), the type
/// (u8), and the payload. A record is one fragment of type *full*, or one of type *first*, any number of type *middle*, and one of type *last*. Six
/// or fewer bytes at the end of a block are unused.
final class LevelDBLogFile {
    /// The position at which reading stopped before the end of the file.
    struct Break {
        /// The offset of the unreadable record. All records before it are readable.
        let record: Int
        /// The offset of the unreadable fragment of that record.
        let fragment: Int
    }

    static let blockSize = 32 << 10
    private static let headerSize = 7

    private enum FragmentType: UInt8 {
        case full = 1
        case first, middle, last
    }

    let size: Int
    private let storePath: StorePath
    private let descriptor: Int32
    private let block = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 8)
    private var blockNumber = -1
    private var blockCount = 0

    init(_ path: String) throws {
        storePath = StorePath(path: path)
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw storePath.refused("The file cannot be opened", errno) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            let code = errno
            close(descriptor)
            throw storePath.refused("The file cannot be read", code)
        }
        size = Int(found.st_size)
    }

    deinit {
        close(descriptor)
        block.deallocate()
    }

    /// Reads records until the end of the file, the first damage, or a record that `body` rejects.
    /// - Parameters:
    ///   - keeping: The number of payload bytes that `body` needs.
    ///   - body: Receives the first bytes of a record's payload, the payload's full length, and the record's offset. Returns `false` to reject the record.
    /// - Returns: `nil` if every record was read.
    func readRecords(keeping: Int, _ body: (_ payload: [UInt8], _ count: Int, _ offset: Int) throws -> Bool) throws -> Break? {
        var payload: [UInt8] = []
        var count = 0
        /// The offset of an incomplete record.
        var begun: Int?
        var offset = 0
        while offset < size {
            let left = Self.blockSize - offset % Self.blockSize
            if left < Self.headerSize {
                offset += left
                continue
            }
            guard let (type, bytes) = try fragment(at: offset), (begun == nil) == (type == .full || type == .first) else {
                return Break(record: begun ?? offset, fragment: offset)
            }
            if begun == nil {
                begun = offset
                count = 0
                payload.removeAll(keepingCapacity: true)
            }
            payload.append(contentsOf: bytes.prefix(max(0, keeping - payload.count)))
            count += bytes.count
            if let start = begun, type == .full || type == .last {
                begun = nil
                guard try body(payload, count, start) else { return Break(record: start, fragment: start) }
            }
            offset += Self.headerSize + bytes.count
        }
        return begun.map { Break(record: $0, fragment: min(offset, size)) }
    }

    /// Returns whether another record begins after an offset, which proves that the data before it had been written.
    func holdsRecord(from start: Int) throws -> Bool {
        for offset in start..<max(start, size) where Self.blockSize - offset % Self.blockSize >= Self.headerSize {
            if let (type, bytes) = try fragment(at: offset), !bytes.isEmpty, type == .full || type == .first { return true }
        }
        return false
    }

    /// Returns the valid fragment at an offset; `nil` if there is none.
    private func fragment(at offset: Int) throws -> (type: FragmentType, payload: UnsafeRawBufferPointer)? {
        try load(offset / Self.blockSize)
        let start = offset % Self.blockSize
        guard start + Self.headerSize <= blockCount, let type = FragmentType(rawValue: block[start + 6]) else { return nil }
        let count = Int(block[start + 4]) | Int(block[start + 5]) << 8
        guard start + Self.headerSize + count <= blockCount, let header = block.baseAddress else { return nil }
        let masked = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: start, as: UInt32.self)) &- 0xa282_ead8
        guard ~polystore_crc32c(0xffff_ffff, header + start + 6, count + 1) == masked >> 17 | masked << 15 else { return nil }
        return (type, UnsafeRawBufferPointer(rebasing: block[start + Self.headerSize..<start + Self.headerSize + count]))
    }

    private func load(_ number: Int) throws {
        guard number != blockNumber, let start = block.baseAddress else { return }
        blockNumber = number
        blockCount = 0
        while blockCount < Self.blockSize {
            let count = pread(descriptor, start + blockCount, Self.blockSize - blockCount, off_t(number * Self.blockSize + blockCount))
            if count < 0 {
                if errno == EINTR { continue }
                let code = errno
                blockNumber = -1
                throw storePath.refused("The file cannot be read", code)
            }
            if count == 0 { return }
            blockCount += count
        }
    }
}
