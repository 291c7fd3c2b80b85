import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The side files that SQLite keeps beside a database in WAL mode.
extension FilePlace {
    var walPath: String { path + "-wal" }
    var sharedMemoryPath: String { path + "-shm" }

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
}
