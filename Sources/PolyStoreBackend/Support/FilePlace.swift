#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the file system says about the place of a store, for backends that keep one in a file or a folder.
///
/// All but ``openLocked(mode:)`` only asks about names and never opens a file that exists: closing any descriptor of a file drops all locks of the
/// `fcntl` kind that the process holds on it, those of an engine's own connections included.
public struct FilePlace: Sendable, Hashable {
    /// What is at a path.
    public enum Kind: Sendable, Hashable {
        case absent
        case file(bytes: Int)
        case directory, other
    }

    /// As given to init.
    public let path: String

    /// - Parameter path: as it is; see ``resolve(_:)``.
    public init(path: String) { self.path = path }

    /// An absolute path without symbolic links, as far as the file system can tell now: what ``StoreConfiguration/location`` should be, so that two
    /// names of one file are one store.
    public static func resolve(_ file: String) -> String {
        guard !file.isEmpty, !file.utf8.contains(0) else { return file }
        if let found = real(file) { return found }
        let cut = file.lastIndex(of: "/")
        let name = cut.map { String(file[file.index(after: $0)...]) } ?? file
        let folder = cut.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        if let found = real(folder) { return (found == "/" ? "" : found) + "/" + name }
        if file.hasPrefix("/") { return file }
        return (real(".") ?? "") + "/" + file
    }

    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// What is there now.
    /// - Throws: `io` for a path that no file can have, or that cannot be reached.
    public func kind() throws -> Kind {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.io, "\"\(path)\" is no path of a file: it is empty or holds a NUL character.", url: path)
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

    /// Makes an empty file with the given permissions; one that somebody else made in between is taken as it is.
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

    /// Gives a lock back and closes the file. A process that was just started may hold a copy of the descriptor for a moment, until it runs a program
    /// of its own; closing alone would leave it the lock as well.
    public static func closeLocked(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Opens a file for reading and writing, made where there is none, with a lock that no other process and no other call of this gets meanwhile.
    ///
    /// The lock (`flock`) belongs to the descriptor: it is given back by ``closeLocked(_:)``, and by the end of the process. Not for a file that an engine
    /// opens itself with locks of the `fcntl` kind; lock another one beside it then.
    /// - Parameter mode: permissions of a new file.
    /// - Returns: the descriptor.
    /// - Throws: `busy` where another has the lock; `notAStore` where the path is a folder; `io`.
    public func openLocked(mode: UInt32) throws -> Int32 {
        if try kind() == .directory {
            throw StoreError(.notAStore, "\(path) is a folder, and a file was expected. It was left as it is.", url: path)
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw refused("The file cannot be opened", errno) }
        let code = flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno
        var found = stat()
        // Whoever had the lock until now may have put another file in the place of this one.
        if code == 0, fstat(descriptor, &found) == 0, (try? identity()) == "\(found.st_dev):\(found.st_ino)" { return descriptor }
        close(descriptor)
        guard code == 0 || code == EWOULDBLOCK else { throw refused("The file cannot be locked", code) }
        throw StoreError(
            .busy, "\(path) is open in another process, and serves one at a time.", url: path, engineCode: Int(code))
    }

    /// The same for every name of a file or folder that exists, and unlike any other's: device and inode.
    public func identity() throws -> String {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        return "\(found.st_dev):\(found.st_ino)"
    }

    /// Returns when everything written to a descriptor of the file has reached the disk, which on some systems takes more than `fsync`.
    /// - Throws: `full`, `io`. What is on the disk is then unknown, and asking again does not find out.
    public func flush(_ descriptor: Int32) throws {
        #if canImport(Darwin)
            // `fsync` stops at the drive's own cache there.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw refused("The file cannot be flushed", errno) }
    }

    /// Returns when the folder on the disk has the file's name: needed once after it was made or renamed, or a power cut may take it away, whole.
    /// - Throws: `io`.
    public func flushFolder() throws {
        let cut = path.lastIndex(of: "/")
        let folder = cut.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refused("The folder cannot be opened", errno) }
        defer { close(descriptor) }
        try flush(descriptor)
    }

    /// An error of the system, with its own words: `full` where there is no room, `io` otherwise.
    /// - Parameter code: `errno`.
    public func refused(_ what: String, _ code: Int32) -> StoreError {
        StoreError(
            code == ENOSPC || code == EDQUOT ? .full : .io, "\(what): \(path).", url: path, engineCode: Int(code),
            underlying: String(cString: strerror(code)))
    }
}
