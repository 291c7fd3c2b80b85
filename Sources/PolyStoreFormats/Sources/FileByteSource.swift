import Foundation
import PolyStorePlatform

/// A source of the bytes of a file, a pipe or a socket.
public final class FileByteSource: ByteSource {
    private let descriptor: Int32
    private let name: String
    /// The file handle that keeps the descriptor open.
    private let owner: FileHandle?
    private let closes: Bool
    public let byteCount: Int64?

    /// Opens a file for reading.
    ///
    /// - Throws: ``RecordError`` with the error message of the operating system.
    public init(path: String) throws {
        var information = stat()
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.error("open", path) }
        name = path
        owner = nil
        closes = true
        let isKnown = fstat(descriptor, &information) == 0
        if isKnown, information.st_mode & S_IFMT == S_IFDIR {
            close(descriptor)
            throw RecordError(.inputOutput, "Cannot read '\(path)': it is a directory.", isRecoverable: false)
        }
        byteCount = isKnown && information.st_mode & S_IFMT == S_IFREG ? Int64(information.st_size) : nil
    }

    /// Creates a source for an open descriptor. The caller closes the descriptor.
    public init(descriptor: Int32, name: String = "the descriptor") {
        self.descriptor = descriptor
        self.name = name
        owner = nil
        closes = false
        byteCount = Self.remainingBytes(descriptor)
    }

    /// Creates a source for an open file handle, from its current position, and retains the handle.
    public init(_ handle: FileHandle) {
        descriptor = handle.fileDescriptor
        name = "the file handle"
        owner = handle
        closes = false
        byteCount = Self.remainingBytes(descriptor)
    }

    deinit {
        if closes { close(descriptor) }
    }

    private static func remainingBytes(_ descriptor: Int32) -> Int64? {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        let position = lseek(descriptor, 0, SEEK_CUR)
        return position < 0 ? nil : max(0, Int64(information.st_size) - Int64(position))
    }

    public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = PolyStorePlatform.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // A nonblocking descriptor: wait for bytes.
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
            default: throw Self.error("read", name)
            }
        }
    }

    public func skip(_ count: Int64) throws -> Int64 {
        guard let byteCount else { return try skipByReading(count) }
        let position = Int64(lseek(descriptor, 0, SEEK_CUR))
        var information = stat()
        guard position >= 0, byteCount >= 0, fstat(descriptor, &information) == 0 else { return try skipByReading(count) }
        let skipped = max(0, min(count, Int64(information.st_size) - position))
        guard lseek(descriptor, off_t(position + skipped), SEEK_SET) >= 0 else { throw Self.error("read", name) }
        return skipped
    }

    static func error(_ verb: String, _ name: String) -> RecordError {
        RecordError(.inputOutput, "Cannot \(verb) '\(name)': \(String(cString: strerror(errno))).", isRecoverable: false)
    }
}
