import Foundation
import PolyStorePlatform

/// A sink that writes a file under a temporary name in the same directory and renames it when it is complete, so that no reader sees an incomplete file.
///
/// An unfinished file is removed, and an existing file remains unchanged. A file that replaces another has its permissions, and its owner if the process may give it. A symbolic link is
/// followed. What is not a regular file, such as a device or a pipe, is not replaced: the bytes are written to it.
public final class FileByteSink: ByteSink {
    private let path: String
    /// The path without symbolic links, which the complete file gets.
    private let target: String
    /// The path of the unfinished file; nil if the bytes are written to what exists.
    private let temporary: String?
    private let replacesExisting: Bool
    private var descriptor: Int32

    /// Creates the temporary file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - replacesExisting: Whether a file of this name is replaced. If not, one that appears before ``finish()`` remains too, and the sink fails.
    /// - Throws: ``RecordError`` with the error message of the operating system.
    public init(path: String, replacesExisting: Bool = true) throws {
        self.path = path
        self.replacesExisting = replacesExisting
        var existing = stat()
        let exists = stat(path, &existing) == 0
        guard replacesExisting || !exists else { throw Self.exists(path) }
        if exists, existing.st_mode & S_IFMT != S_IFREG {
            (target, temporary) = (path, nil)
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw FileByteSource.error("write", path) }
            return
        }
        target = exists ? Self.resolved(path) : path
        let temporary = target + ".\(UUID().uuidString.prefix(8)).partial"
        self.temporary = temporary
        descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0o600 : 0o666)
        guard descriptor >= 0 else { throw FileByteSource.error("create", temporary) }
        guard exists else { return }
        // Not every process may give a file away.
        _ = fchown(descriptor, existing.st_uid, existing.st_gid)
        guard fchmod(descriptor, existing.st_mode & 0o777) == 0 else {
            let error = FileByteSource.error("create", temporary)
            cancel()
            throw error
        }
    }

    deinit { cancel() }

    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    private static func exists(_ path: String) -> RecordError {
        RecordError(.inputOutput, "Cannot create '\(path)': a file of this name exists.", isRecoverable: false)
    }

    public func write(_ bytes: UnsafeRawBufferPointer) throws {
        guard descriptor >= 0 else { throw RecordError(.inputOutput, "Cannot write '\(path)': it is finished.", isRecoverable: false) }
        try DescriptorByteSink.write(bytes, to: descriptor, temporary ?? path)
    }

    /// Flushes the file to disk and renames it.
    public func finish() throws {
        guard descriptor >= 0 else { return }
        guard let temporary else { return cancel() }
        do {
            guard fsync(descriptor) == 0 else { throw FileByteSource.error("write", temporary) }
            try publish(temporary)
        } catch {
            cancel()
            throw error
        }
        close(descriptor)
        descriptor = -1
        // The rename is durable after the directory is flushed, which not every file system supports.
        let directory = open(
            target.contains("/") ? String(target[..<(target.lastIndex(of: "/") ?? target.startIndex)]) + "/" : ".", O_RDONLY | O_CLOEXEC)
        if directory >= 0 {
            fsync(directory)
            close(directory)
        }
    }

    /// Gives the complete file its name.
    private func publish(_ temporary: String) throws {
        if !replacesExisting {
            if link(temporary, target) == 0 {
                unlink(temporary)
                return
            }
            // A file system without links has an empty file for a moment.
            let reserved = errno == EEXIST ? -1 : open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
            guard reserved >= 0 else { throw errno == EEXIST ? Self.exists(path) : FileByteSource.error("create", path) }
            close(reserved)
        }
        guard rename(temporary, target) == 0 else {
            let error = FileByteSource.error("replace", path)
            if !replacesExisting { unlink(target) }
            throw error
        }
    }

    public func cancel() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
        if let temporary { unlink(temporary) }
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
