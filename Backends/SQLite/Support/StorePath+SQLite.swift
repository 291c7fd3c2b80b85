import CSQLite
import PolyStoreBackend
import PolyStorePlatform

/// The side files that SQLite keeps beside a database in WAL mode.
extension StorePath {
    var walPath: String { path + "-wal" }

    /// Returns the size of the write-ahead log in bytes; 0 if there is none.
    func walSize() -> Int {
        var found = stat()
        return stat(walPath, &found) == 0 ? Int(found.st_size) : 0
    }

    /// A Boolean value that indicates whether the file's folder allows new files.
    var folderTakesFiles: Bool { faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) == 0 }

    /// Flushes the folder of the file, unless the process may not read it or its file system has no flush for folders.
    /// - Returns: SQLite's result code and the system's error: `SQLITE_CANTOPEN` if the folder cannot be opened, after which another attempt can succeed, and an I/O error if
    ///   the flush has failed.
    func flushFolderIfPossible() -> (code: Int32, error: Int32) {
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return ([EACCES, EPERM].contains(errno) ? SQLITE_OK : SQLITE_CANTOPEN, errno) }
        defer { _ = close(descriptor) }
        do { try flush(descriptor) } catch {
            let error = Int32(truncatingIfNeeded: (error as? StoreError)?.engineCode ?? Int(EIO))
            return ([EINVAL, EACCES, EPERM, ENOTSUP, ENOSYS].contains(error) ? SQLITE_OK : polystore_sqlite_ioerr_dir_fsync, error)
        }
        return (SQLITE_OK, 0)
    }

    /// Rewrites the write-ahead log with the same bytes and flushes it together with its folder entry. Call it while no other connection can write to it.
    ///
    /// SQLite holds no lock on the log itself, so closing a descriptor of it releases none.
    /// - Throws: `full`, `io`.
    func rewriteLog() throws {
        guard walSize() > 0 else { return }
        let log = StorePath(path: walPath)
        let descriptor = open(walPath, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw log.refused("The write-ahead log cannot be opened", errno) }
        defer { _ = close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while true {
            let read = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw log.refused("The write-ahead log cannot be read", errno) }
            if read == 0 { break }
            var written = 0
            while written < read {
                let count = pwrite(descriptor, buffer.baseAddress.map { $0 + written }, read - written, off_t(offset + written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw log.refused("The write-ahead log cannot be written", errno) }
                written += count
            }
            offset += read
        }
        try log.flush(descriptor)
        try log.flushFolder()
    }
}
