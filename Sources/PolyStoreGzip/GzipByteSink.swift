import CZlib
import PolyStoreFormats

/// Compresses what is written into another sink, in the format of gzip.
public final class GzipByteSink: ByteSink {
    private let sink: any ByteSink
    private let output: UnsafeMutableRawBufferPointer
    /// At an address of its own: zlib keeps a pointer to it.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isFinished = false

    /// - Parameter level: from 1 for speed to 9 for size.
    /// - Throws: ``RecordError`` for another level, or if zlib cannot get memory.
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
            // zlib counts in 32 bits.
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 30))
            // zlib does not change its input; the type of the pointer does not say so.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: part.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(part.count)
            while stream.pointee.avail_in > 0 { try run(Z_NO_FLUSH) }
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
        }
    }

    /// Runs zlib once and writes its output to the sink. Returns true at the end of the member.
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
    /// A file in gzip, which gets its name when it is complete; see ``FileByteSink``.
    public static func gzip(path: String, level: Int = 6) throws -> GzipByteSink {
        try GzipByteSink(FileByteSink(path: path), level: level)
    }
}
