import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension LMDBFile {
    /// Creates the file atomically: it gets its name when it is complete and flushed.
    /// - Parameter write: Writes the contents to a descriptor.
    /// - Throws: `io` if a file exists at the path.
    func createCopy(mode: UInt32, _ write: (Int32) throws -> Void) throws {
        guard try storePath.kind() == .absent else {
            throw StoreError(
                .io, "Cannot copy to \(storePath.path): there is a file or folder already. Choose another path.", location: storePath.path)
        }
        let temporary = storePath.temporaryPath()
        let descriptor = open(temporary.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw storePath.refused("The copy cannot be made", errno) }
        defer {
            Self.close(descriptor)
            unlink(temporary.path)
        }
        try write(descriptor)
        try storePath.flush(descriptor)
        // Unlike `rename`, `link` never replaces a file that another process has created in the meantime.
        if link(temporary.path, storePath.path) != 0 {
            guard errno != EEXIST, rename(temporary.path, storePath.path) == 0 else {
                throw storePath.refused("The copy cannot be named", errno)
            }
        }
        try storePath.flushFolder()
    }
}
