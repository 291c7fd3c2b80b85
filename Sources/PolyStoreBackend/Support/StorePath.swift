import PolyStorePlatform

/// The path of a store and its operations on the file system, for backends that store data in a file or a folder.
///
/// Except for ``openLocked(mode:)``, the methods never open an existing file: closing any descriptor of a file releases all `fcntl` locks
/// that the process holds on it, including those of an engine's own connections.
public struct StorePath: Sendable, Hashable {
    /// The kind of file system entry at a path.
    public enum Kind: Sendable, Hashable {
        /// No file exists at the path.
        case absent
        /// A regular file, with its size in bytes.
        case file(bytes: Int)
        /// A directory.
        case directory
        /// A device, a pipe, a socket or another special file.
        case other
    }

    /// The path as passed to the initializer.
    public let path: String

    /// Creates a store path.
    /// - Parameter path: The path, used unchanged; see ``resolve(_:)``.
    public init(path: String) { self.path = path }

    /// Returns an absolute path without symbolic links, as far as the file system can resolve it. Use it for ``StoreConfiguration/location``, so that different
    /// names of a file identify the same store.
    public static func resolve(_ file: String) -> String {
        guard !file.isEmpty, !file.utf8.contains(0) else { return file }
        if let found = real(file) { return found }
        let cut = file.lastIndex(of: "/")
        let name = cut.map { String(file[file.index(after: $0)...]) } ?? file
        if let found = real(StorePath(path: file).parent) { return (found == "/" ? "" : found) + "/" + name }
        if file.hasPrefix("/") { return file }
        return (real(".") ?? "") + "/" + file
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// Returns the kind of entry at the path.
    /// - Throws: `io` for an invalid path or one that cannot be accessed.
    public func kind() throws -> Kind {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.io, "\"\(path)\" is not a file path: it is empty or holds a NUL character.", location: path)
        }
        var found = stat()
        guard stat(path, &found) == 0 else {
            if errno == ENOENT { return .absent }
            throw refused("The file cannot be reached", errno)
        }
        switch found.st_mode & S_IFMT {
        case S_IFREG: return .file(bytes: Int(found.st_size))
        case S_IFDIR: return .directory
        default: return .other
        }
    }

    /// Creates an empty file with the given permissions. Keeps a file that another process created in the meantime.
    /// - Throws: `io`.
    public func create(mode: UInt32) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_t(mode))
        if descriptor >= 0 {
            // The file is new, so no connection of this process can have a lock on it.
            close(descriptor)
        } else if errno != EEXIST {
            throw refused("The file cannot be made", errno)
        }
    }

    /// Releases a lock and closes the file. The explicit unlock is needed because a child process can hold a copy of the descriptor until it executes
    /// its program, and would keep the lock if the file were only closed.
    public static func closeLocked(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Opens a file for reading and writing with an exclusive lock, and creates it if it does not exist.
    ///
    /// The lock (`flock`) belongs to the descriptor. It is released by ``closeLocked(_:)`` and at the end of the process. Do not use it on a file that an
    /// engine opens itself with `fcntl` locks; lock a separate file instead.
    /// - Parameter mode: The permissions of a new file.
    /// - Returns: The descriptor.
    /// - Throws: `busy` if another process or call holds the lock; `notAStore` if the path is a folder; `io`.
    public func openLocked(mode: UInt32) throws -> Int32 {
        if try kind() == .directory {
            throw StoreError(.notAStore, "\(path) is a folder, and a file was expected. It was left as it is.", location: path)
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw refused("The file cannot be opened", errno) }
        let code = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        var found = stat()
        // The previous owner of the lock may have replaced the file.
        if code == 0, fstat(descriptor, &found) == 0, (try? identity()) == "\(found.st_dev):\(found.st_ino)" { return descriptor }
        close(descriptor)
        guard code == 0 || code == EWOULDBLOCK else { throw refused("The file cannot be locked", code) }
        throw StoreError(
            .busy, "\(path) is open in another process, and serves one at a time.", location: path, engineCode: Int(code))
    }

    /// Returns the device and inode of a file or folder, which identify it under all of its names.
    public func identity() throws -> String {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        return "\(found.st_dev):\(found.st_ino)"
    }

    /// Flushes everything written to a descriptor of the file to disk, which requires more than `fsync` on some systems.
    /// - Throws: `full`, `io`. The contents of the disk are then unknown, and a retry does not change that.
    public func flush(_ descriptor: Int32) throws {
        #if canImport(Darwin)
            // On Darwin `fsync` does not flush the cache of the drive.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw refused("The file cannot be flushed", errno) }
    }

    /// Deletes the file if it exists.
    /// - Throws: `notAStore` for a folder, which is left unchanged; `io`.
    public func remove() throws {
        switch try kind() {
        case .absent: return
        case .directory: throw StoreError(.notAStore, "\(path) is a folder, and a file was expected. It was left as it is.", location: path)
        case .file, .other: break
        }
        guard unlink(path) == 0 || errno == ENOENT else { throw refused("The file cannot be deleted", errno) }
    }

    /// Returns the size of the file, or of all files in the folder, in bytes; 0 if it does not exist.
    public func size() throws -> Int {
        switch try kind() {
        case .absent, .other: return 0
        case .file(let bytes): return bytes
        case .directory: return try names().reduce(0) { try $0 + StorePath(path: path + "/" + $1).size() }
        }
    }

    /// Returns the names of the entries of the folder.
    package func names() throws -> [String] {
        guard let folder = opendir(path) else { throw refused("The folder cannot be read", errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = StorePath.name(of: entry)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the name of an entry of a folder.
    ///
    /// Reads up to the terminating zero only: `d_name` is declared with 256 bytes, and the buffer of the system can end behind the name.
    static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return "" }
        return String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: UInt8.self))
    }

    /// Creates the folder of the file and its missing parent folders. Only the owner has access to new folders.
    /// - Throws: `io`.
    public func createFolder() throws {
        guard let cut = path.lastIndex(of: "/"), cut != path.startIndex else { return }
        let folder = StorePath(path: String(path[..<cut]))
        if case .directory = try folder.kind() { return }
        try folder.createFolder()
        guard mkdir(folder.path, 0o700) == 0 || errno == EEXIST else { throw folder.refused("The folder cannot be made", errno) }
    }

    /// The folder that contains the file or folder, by the path: `.` for a name alone.
    package var parent: String { path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "." }

    /// Flushes the directory entry of the file to disk. Required once after the file is created or renamed, because a power failure may otherwise remove the
    /// file.
    /// - Throws: `io`.
    public func flushFolder() throws {
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refused("The folder cannot be opened", errno) }
        defer { close(descriptor) }
        try flush(descriptor)
    }

    /// Returns the error for a failed system call: `full` if the disk is full, `io` otherwise.
    /// - Parameters:
    ///   - what: The operation that failed, for the message.
    ///   - code: The value of `errno`.
    public func refused(_ what: String, _ code: Int32) -> StoreError {
        StoreError(
            code == ENOSPC || code == EDQUOT || code == EFBIG ? .full : .io, "\(what): \(path).", location: path, engineCode: Int(code),
            underlying: String(cString: strerror(code)))
    }
}
