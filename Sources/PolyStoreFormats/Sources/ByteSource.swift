/// A source of bytes that is read sequentially. Its calls may block.
public protocol ByteSource: AnyObject {
    /// Reads at least one byte into the buffer and returns the count; 0 at the end of the source.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int

    /// The total number of bytes of the source, if it is known; nil for a compressed source.
    var byteCount: Int64? { get }

    /// Skips up to `count` bytes and returns the number skipped, which is smaller only at the end. The default reads and discards them.
    func skip(_ count: Int64) throws -> Int64
}

extension ByteSource {
    public var byteCount: Int64? { nil }

    public func skip(_ count: Int64) throws -> Int64 { try skipByReading(count) }

    func skipByReading(_ count: Int64) throws -> Int64 {
        var skipped: Int64 = 0
        try withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
            while skipped < count {
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(count - skipped, Int64(buffer.count)))])
                let read = try read(into: part)
                if read == 0 { return }
                skipped += Int64(read)
            }
        }
        return skipped
    }
}

/// A source of bytes in memory.
public final class MemoryByteSource: ByteSource {
    private let bytes: [UInt8]
    private var offset = 0

    /// Creates a source.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public var byteCount: Int64? { Int64(bytes.count) }

    public func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - offset)
        buffer.copyBytes(from: bytes[offset..<offset + count])
        offset += count
        return count
    }

    public func skip(_ count: Int64) -> Int64 {
        let skipped = min(count, Int64(bytes.count - offset))
        offset += Int(skipped)
        return skipped
    }
}
