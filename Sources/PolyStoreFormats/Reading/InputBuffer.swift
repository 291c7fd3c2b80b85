import PolyStorePlatform

/// The unconsumed bytes of a source, contiguous in memory: at most one record and one chunk.
final class InputBuffer {
    private let source: any ByteSource
    private var base: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private var start = 0
    private var end = 0
    /// The offset of the first unconsumed byte in the source.
    private(set) var offset: Int64 = 0
    /// A Boolean value that indicates whether the source has no more bytes than ``available``.
    private(set) var isAtEnd = false

    /// Called before the source is read.
    var willFill: (() -> Void)?

    static let chunk = 256 << 10

    init(_ source: any ByteSource) {
        self.source = source
        capacity = Self.chunk
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    var totalBytes: Int64? { source.byteCount }

    /// The number of bytes available at ``bytes``.
    @inline(__always) var available: Int { end &- start }

    /// The bytes, valid until the buffer is filled or consumed.
    @inline(__always) var bytes: UnsafePointer<UInt8> { UnsafePointer(base + start) }

    var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: bytes, count: available) }

    @inline(__always)
    func consume(_ count: Int) {
        start &+= count
        offset &+= Int64(count)
    }

    /// Reads more bytes. Returns false at the end of the source.
    func fill() throws -> Bool {
        if isAtEnd { return false }
        willFill?()
        if start == end {
            start = 0
            end = 0
        }
        if capacity > 4 * Self.chunk, available <= capacity / 8 {
            // The buffer has grown for a long record.
            move(to: max(2 * Self.chunk, available * 2))
        } else if capacity - end < Self.chunk / 2 {
            // A move within the buffer frees half of it, so that each byte is moved a constant number of times.
            move(to: start >= capacity / 2 || available <= Self.chunk / 4 ? capacity : capacity * 2)
        }
        let read = try source.read(into: UnsafeMutableRawBufferPointer(start: base + end, count: capacity - end))
        isAtEnd = read == 0
        end += read
        return read > 0
    }

    /// Moves the bytes to the beginning of the buffer, or to a new buffer if the capacity changes.
    private func move(to wanted: Int) {
        let count = available
        if wanted == capacity {
            memmove(base, base + start, count)
        } else {
            let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: wanted)
            memcpy(moved, base + start, count)
            base.deallocate()
            base = moved
            capacity = wanted
        }
        start = 0
        end = count
    }

    /// Fills the buffer until `count` bytes are available or the source ends.
    func require(_ count: Int) throws {
        while available < count, try fill() {}
    }

    /// Consumes all bytes up to an offset in the source. Returns false if the source is shorter.
    func skip(to target: Int64) throws -> Bool {
        guard target >= offset else { return false }
        let buffered = min(Int64(available), target - offset)
        consume(Int(buffered))
        guard target > offset else { return true }
        let skipped = try source.skip(target - offset)
        offset += skipped
        return target == offset
    }
}
