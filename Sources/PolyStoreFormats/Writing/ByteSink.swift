/// A destination for bytes. Its calls may block.
public protocol ByteSink: AnyObject {
    /// Writes all of the bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws

    /// Completes the destination. No bytes are written afterwards.
    func finish() throws

    /// Discards the written bytes as far as possible: a file is not created or replaced.
    func cancel()
}

/// A sink that collects bytes in memory.
public final class MemoryByteSink: ByteSink {
    /// The written bytes.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty sink.
    public init() {}

    /// The written bytes as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
    public func finish() {}
    public func cancel() { bytes = [] }
}

extension ByteSink where Self == FileByteSink {
    /// Creates a sink for a file that is created or replaced when it is complete; see ``FileByteSink``.
    public static func file(path: String) throws -> FileByteSink { try FileByteSink(path: path) }
}
