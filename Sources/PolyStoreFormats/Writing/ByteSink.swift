/// A destination of bytes. Its calls may block.
public protocol ByteSink: AnyObject {
    /// Writes all of the bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws

    /// Completes the destination. Nothing is written afterwards.
    func finish() throws

    /// Discards what was written, as far as the destination can: a file is not created or replaced.
    func cancel()
}

/// Collects bytes in memory.
public final class MemoryByteSink: ByteSink {
    /// What was written.
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// What was written, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    public func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
    public func finish() {}
    public func cancel() { bytes = [] }
}

extension ByteSink where Self == FileByteSink {
    /// A file, which gets its name when it is complete; see ``FileByteSink``.
    public static func file(path: String) throws -> FileByteSink { try FileByteSink(path: path) }
}
