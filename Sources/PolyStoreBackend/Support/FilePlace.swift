#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the file system says about the place of a store.
///
/// Only asks about names and never opens a file that exists: closing any descriptor of a file drops all locks that the process holds on it, those of
/// other connections included.
package struct FilePlace {
    package enum Kind {
        case absent
        case file(bytes: Int)
        case directory, other
    }

    package let path: String

    package init(path: String) { self.path = path }

    /// An absolute path without symbolic links, as far as the file system can tell now.
    package static func resolve(_ file: String) -> String {
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

    package func kind() throws -> Kind {
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
    package func create(mode: UInt32) throws {
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_t(mode))
        if descriptor >= 0 {
            // The file is new, so no connection of this process can have a lock on it.
            close(descriptor)
        } else if errno != EEXIST {
            throw refused("The file cannot be made", errno)
        }
    }

    /// The same for every name of a file or folder that exists, and unlike any other's: device and inode.
    package func identity() throws -> String {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        return "\(found.st_dev):\(found.st_ino)"
    }

    /// An error of the system, with its own words.
    package func refused(_ what: String, _ code: Int32) -> StoreError {
        StoreError(.io, "\(what): \(path).", url: path, engineCode: Int(code), underlying: String(cString: strerror(code)))
    }
}
