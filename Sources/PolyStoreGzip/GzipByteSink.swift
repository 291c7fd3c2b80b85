import CZlib
import PolyStoreFormats

/// A sink that compresses bytes in the gzip format and writes them to another sink.
public final class GzipByteSink: ByteSink {
    private let sink: any ByteSink
    private let output: UnsafeMutableRawBufferPointer
    /// Allocated separately because zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isFinished = false

    /// Creates a sink.
    /// - Parameters:
    ///   - sink: The sink for the compressed bytes.
    ///   - level: The compression level, from 1 (fastest) to 9 (smallest).
    /// - Throws: `RecordError` for another level, or if zlib cannot allocate memory.
    public init(_ sink: any ByteSink, level: Int = 6) throws {
        self.sink = sink
        output = .allocate(byteCount: 64 << 10, alignment: 16)
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard (1...9).contains(level) else {
            throw RecordError(.unsupported, "The level of gzip is from 1 to 9, not \(level).", isRecoverable: false)
        }
        guard polystore_deflate_init(stream, Int32(level)) == Z_OK else {
            throw RecordError(.compression, "Cannot compress: zlib has no memory.", isRecoverable: false)
        }
    }

    deinit {
        if !isFinished { sink.cancel() }
        deflateEnd(stream)
        stream.deallocate()
        output.deallocate()
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard !isFinished else {
            throw RecordError(.inputOutput, "The gzip sink is finished and takes no more bytes.", isRecoverable: false)
        }
        var rest = bytes
        while !rest.isEmpty {
            // zlib uses 32-bit counts.
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            // zlib does not modify its input, although the pointer type is mutable.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: part.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(part.count)
            while stream.pointee.avail_in > 0 { try run(Z_NO_FLUSH) }
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
        }
    }

    /// Calls zlib once and writes its output to the sink. Returns true at the end of the member.
    @discardableResult
    private func run(_ flush: Int32) throws -> Bool {
        stream.pointee.next_out = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = UInt32(output.count)
        let result = deflate(stream, flush)
        guard result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR else {
            throw RecordError(.compression, "Cannot compress: error \(result) of zlib.", isRecoverable: false)
        }
        let count = output.count - Int(stream.pointee.avail_out)
        if count > 0 { try sink.write(UnsafeRawBufferPointer(rebasing: output[..<count])) }
        return result == Z_STREAM_END
    }

    public func finish() throws {
        guard !isFinished else { return }
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
        while try !run(Z_FINISH) {}
        try sink.finish()
        isFinished = true
    }

    public func cancel() {
        guard !isFinished else { return }
        isFinished = true
        sink.cancel()
    }
}

extension ByteSink where Self == GzipByteSink {
    /// Creates a sink for a gzip file that is created or replaced when it is complete; see `FileByteSink`.
    public static func gzip(path: String, level: Int = 6) throws -> GzipByteSink {
        try GzipByteSink(FileByteSink(path: path), level: level)
    }
}
