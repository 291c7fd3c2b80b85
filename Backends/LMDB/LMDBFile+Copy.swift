import PolyStoreBackend
import PolyStorePlatform

extension LMDBFile {
    /// Creates the file atomically: it gets its name when it is complete and flushed.
    /// - Parameter write: Writes the contents to a descriptor.
    /// - Throws: `io` if a file exists at the path.
    func createCopy(mode: UInt32, _ write: (Int32) throws -> Void) throws {
        guard try storePath.kind() == .absent else {
            throw StoreError(
                .io, "Cannot copy to \(storePath.path): there is a file or folder already. Choose another path.", location: storePath.path)
        }
        storePath.removeLeftovers()
        let temporary = try TemporaryEntry(beside: storePath, mode: mode)
        defer { temporary.remove() }
        try write(temporary.descriptor)
        try storePath.flush(temporary.descriptor)
        // Unlike `rename`, `link` never replaces a file that another process has created in the meantime.
        if link(temporary.storePath.path, storePath.path) != 0 {
            guard errno != EEXIST, rename(temporary.storePath.path, storePath.path) == 0 else {
                throw storePath.refused("The copy cannot be named", errno)
            }
        }
        temporary.remove()
        try storePath.flushFolder()
    }
}
