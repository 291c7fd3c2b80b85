import Foundation
import PolyStorePlatform

/// A sink that writes a file under a temporary name in the same directory and renames it when it is complete, so that no reader sees an incomplete file.
///
/// An unfinished file is removed, and an existing file remains unchanged.
public final class FileByteSink: ByteSink {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// Creates the temporary file.
    ///
    /// - Throws: ``RecordError`` with the error message of the operating system.
    public init(path: String) throws {
        self.path = path
        temporary = path + ".\(UUID().uuidString.prefix(8)).partial"
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileByteSource.error("create", temporary) }
    }

    deinit { cancel() }

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard descriptor >= 0 else { throw RecordError(.inputOutput, "Cannot write '\(path)': it is finished.", isRecoverable: false) }
        try DescriptorByteSink.write(bytes, to: descriptor, temporary)
    }

    /// Flushes the file to disk and renames it.
    public func finish() throws {
        guard descriptor >= 0 else { return }
        do {
            guard fsync(descriptor) == 0 else { throw FileByteSource.error("write", temporary) }
            guard rename(temporary, path) == 0 else { throw FileByteSource.error("replace", path) }
        } catch {
            cancel()
            throw error
        }
        close(descriptor)
        descriptor = -1
        // The rename is durable after the directory is flushed, which not every file system supports.
        let directory = open(
            path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/" : ".", O_RDONLY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    public func cancel() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        unlink(temporary)
    }
}

/// A sink that writes to a descriptor or a file handle, which the caller closes.
public final class DescriptorByteSink: ByteSink {
    private let descriptor: Int32
    /// The file handle that keeps the descriptor open.
    private let owner: FileHandle?

    /// Creates a sink for an open descriptor.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        owner = nil
    }

    /// Creates a sink for an open file handle and retains the handle.
    public init(_ handle: FileHandle) {
        descriptor = handle.fileDescriptor
        owner = handle
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws { try Self.write(bytes, to: descriptor, "the file handle") }
    public func finish() {}
    public func cancel() {}

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = PolyStorePlatform.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&request, 1, -1)
            default: throw FileByteSource.error("write", name)
            }
        }
    }
}
