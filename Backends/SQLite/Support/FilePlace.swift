import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the file system says about the place of a store.
///
/// Only asks about names and never opens a database file itself: closing any descriptor of a file drops all locks that
/// the process holds on it, those of other connections included.
struct FilePlace {
    enum Kind {
        case absent
        case file(bytes: Int)
        case directory, other
    }

    let path: String

    /// The side files that SQLite keeps beside a database in WAL mode.
    var walPath: String { path + "-wal" }
    var sharedMemoryPath: String { path + "-shm" }

    /// An absolute path without symbolic links, as far as the file system can tell now.
    static func resolve(_ file: String) -> String {
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

    func kind() throws -> Kind {
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
    func create(mode: UInt32) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_t(mode))
        if descriptor >= 0 {
            // The file is new, so no connection of this process can have a lock on it.
            close(descriptor)
        } else if errno != EEXIST {
            throw refused("The file cannot be made", errno)
        }
    }

    /// Deletes the database and then its side files: SQLite ignores the log of a database that is gone, not the other way round.
    func delete() throws {
        for name in [path, walPath, sharedMemoryPath] where unlink(name) != 0 && errno != ENOENT {
            throw refused("The old store cannot be deleted", errno)
        }
    }

    /// Bytes of the write-ahead log; 0 where there is none.
    func walSize() -> Int {
        var found = stat()
        return stat(walPath, &found) == 0 ? Int(found.st_size) : 0
    }

    private func refused(_ what: String, _ code: Int32) -> StoreError {
        StoreError(.io, "\(what): \(path).", url: path, engineCode: Int(code), underlying: String(cString: strerror(code)))
    }
}
