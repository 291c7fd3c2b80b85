import CZlib
import PolyStoreFormats

/// A source that decompresses the bytes of another source in the gzip format, with one or more members.
///
/// Damaged bytes, an incomplete member, and bytes other than zeros after the last member are errors.
public final class GzipByteSource: ByteSource {
    private let source: any ByteSource
    private let name: String
    private let input: UnsafeMutableRawBufferPointer
    /// Allocated separately because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.between
    private var isAtEnd = false
    private var hasMember = false

    private enum State {
        /// Before a member or after the last one.
        case between
        case inMember
        /// In the zeros after the last member, which pad a block of a tape or disk.
        case padding
    }

    /// Creates a source.
    /// - Parameters:
    ///   - source: The compressed bytes, from the beginning.
    ///   - name: The name of the source in errors.
    /// - Throws: `RecordError` if zlib cannot allocate memory.
    public init(_ source: any ByteSource, name: String = "the source") throws {
        self.source = source
        self.name = name
        input = .allocate(byteCount: 64 << 10, alignment: 16)
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard polystore_inflate_init(stream) == Z_OK else {
            throw RecordError(.compression, "Cannot decompress \(name): zlib has no memory.", isRecoverable: false)
        }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        input.deallocate()
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard !buffer.isEmpty else { return 0 }
        while true {
            if stream.pointee.avail_in == 0, !isAtEnd { try fill() }
            if stream.pointee.avail_in == 0 {
                if state == .inMember { throw damaged("it ends in the middle") }
                if !hasMember { throw damaged("it is empty") }
                return 0
            }
            if state != .inMember, try !beginMember() { continue }
            let size = UInt32(clamping: buffer.count)
            stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = size
            let result = inflate(stream, Z_NO_FLUSH)
            let count = Int(size - stream.pointee.avail_out)
            switch result {
            case Z_STREAM_END: state = .between
            case Z_OK, Z_BUF_ERROR: break
            default: throw damaged(stream.pointee.msg.map { String(cString: $0) } ?? "error \(result) of zlib")
            }
            if count > 0 { return count }
        }
    }

    private func fill() throws {
        let count = try source.read(into: input)
        isAtEnd = count == 0
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(count)
    }

    /// Prepares for the next member. Returns false after consuming the padding that follows the last one.
    private func beginMember() throws -> Bool {
        if hasMember, stream.pointee.next_in.pointee == 0 {
            state = .padding
            stream.pointee.next_in += 1
            stream.pointee.avail_in -= 1
            return false
        }
        guard state == .between else { throw damaged("other bytes follow it") }
        if hasMember { inflateReset(stream) }
        hasMember = true
        state = .inMember
        return true
    }

    private func damaged(_ reason: String) -> RecordError {
        RecordError(.compression, "Cannot decompress \(name): \(reason).", isRecoverable: false)
    }
}
