import CLMDB
import PolyStoreBackend
import PolyStorePlatform

/// Access to LMDB's lock file. Use it only while this process does not have the file open in LMDB, because closing a descriptor of the lock file releases
/// LMDB's locks.
extension LMDBFile {
    private var lockStorePath: StorePath { StorePath(path: storePath.path + "-lock") }

    /// The description of the side files in errors about files with several names.
    static let sideFiles = "The lock file of LMDB is"

    /// Checks the number of names of a file that this process does not have open.
    /// - Returns: A Boolean value that indicates whether the file has several names, so that it must be read without locks.
    /// - Throws: `io` for a file with several names, unless the options allow reading it; `busy` if another process has it open.
    func hasSeveralNames(isReadOnly: Bool, options: LMDBOptions) throws -> Bool {
        guard let names = try storePath.severalNames(removesTemporaryNames: !isReadOnly) else { return false }
        guard isReadOnly, options.readsHardLinkedFiles else {
            throw storePath.error(names, what: "opened", sideFiles: Self.sideFiles, options: "LMDBOptions")
        }
        // A process that has the file open in LMDB locks the first byte of the lock file.
        for name in [storePath.path] + names.others where try StorePath(path: name + "-lock").isLockedByAnotherProcess(start: 0, count: 1) {
            throw StoreError(
                .busy,
                "The store \(storePath.path) has \(names.count) names (hard links to the inode \(names.inode)), and another process has it open as \(name). "
                    + "Close it there, or open it under that name and remove the others.", location: storePath.path)
        }
        return true
    }

    /// Runs a closure while other processes wait to open the file. LMDB tests its lock without waiting, to detect whether other processes have the file open,
    /// so no code may hold that lock for another purpose at that time.
    func alone<Result>(_ body: () throws -> Result) throws -> Result {
        while true {
            // A descriptor lock (`flock`), which LMDB does not use.
            let descriptor = open(storePath.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw storePath.refused("The file cannot be read", errno) }
            defer { StorePath.closeLocked(descriptor) }
            // File systems without such locks are used without one.
            while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
            // The previous owner of the lock may have replaced the file.
            var found = stat()
            guard fstat(descriptor, &found) == 0 else { throw storePath.refused("The file cannot be reached", errno) }
            if try storePath.identity() == "\(found.st_dev):\(found.st_ino)" { return try body() }
        }
    }

    /// The path of the file whose descriptor lock the process holds that migrates a store. The file is always empty.
    static func migrationFile(of path: String) -> String { path + "-migration" }

    /// Removes the file of the migration lock. Call it while the lock is held: a process that waits for this file then finds it unlinked and tries again.
    static func removeMigrationFile(_ path: String, _ descriptor: Int32) {
        var found = stat()
        // A file with contents belongs to another program.
        if fstat(descriptor, &found) == 0, found.st_size == 0 { unlink(path) }
    }

    /// Removes what terminated processes have left beside the store: copies, compacted files, and the file of the migration lock.
    func removeLeftovers(logger: any StoreLogger) {
        storePath.removeLeftovers(logger: logger)
        removeMigrationFile()
    }

    /// Removes the file of the migration lock if no process holds the lock.
    func removeMigrationFile() {
        let path = Self.migrationFile(of: storePath.path)
        guard (try? StorePath(path: path).kind()) == .file(bytes: 0), let descriptor = try? StorePath(path: path).openLocked(mode: 0o600)
        else {
            return
        }
        Self.removeMigrationFile(path, descriptor)
        StorePath.closeLocked(descriptor)
    }

    /// Truncates a file whose creation was interrupted to zero length, holding the lock that a process holds in LMDB while it creates a file.
    /// - Returns: `false` while another process holds the lock.
    /// - Parameter isUnflushed: Whether this process has just failed to create the file, so that both pages may be complete without being on the disk, and
    ///   the file may have any length.
    func emptyInterrupted(isUnflushed: Bool = false) throws -> Bool {
        let lock = open(lockStorePath.path, O_RDWR | O_CREAT | O_CLOEXEC, try Self.mode(of: storePath))
        guard lock >= 0 else { throw lockStorePath.refused("The lock file cannot be opened", errno) }
        defer { Self.close(lock) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        guard fcntl(lock, F_SETLK, &range) == 0 else {
            if errno == EAGAIN || errno == EACCES { return false }
            throw lockStorePath.refused("The lock file cannot be locked", errno)
        }
        let data = open(storePath.path, O_RDWR | O_CLOEXEC)
        guard data >= 0 else { throw storePath.refused("The file cannot be opened", errno) }
        defer { Self.close(data) }
        let length = try Self.length(data, storePath)
        // Another process may have done this first.
        guard
            try LMDBCreation.isInterrupted(length: length, isUnflushed: isUnflushed, read: { try read(data, count: $0, at: 0) })
        else { return length == 0 }
        guard ftruncate(data, 0) == 0 else { throw storePath.refused("The file cannot be emptied", errno) }
        return true
    }

    /// Truncates the file again after its creation failed, so that the next opening writes it again: a full disk may have left a partial write, and after a
    /// failed flush the pages that the system still shows may not be on the disk.
    func forgetCreation() { _ = try? emptyInterrupted(isUnflushed: true) }

    private static func mode(of storePath: StorePath) throws -> mode_t {
        var found = stat()
        guard stat(storePath.path, &found) == 0 else { throw storePath.refused("The file cannot be reached", errno) }
        return found.st_mode & 0o777
    }

    /// Reserves the disk space of the lock file. LMDB writes it through a map, which would cause a bus error on a full disk.
    /// - Throws: `full`.
    func reserveLock(readers: UInt32, mode: UInt32) throws {
        let lock = open(lockStorePath.path, O_RDWR | O_CREAT | O_CLOEXEC, mode_t(mode))
        // LMDB reports the error, or works without the lock file.
        guard lock >= 0 else { return }
        defer { Self.close(lock) }
        var found = stat()
        // A header and 64 bytes per reader.
        let size = 4096 + 64 * Int(readers)
        guard fstat(lock, &found) == 0, Int(found.st_blocks) * 512 < size else { return }
        let code = polystore_reserve(lock, Int64(size))
        if code != 0 { throw lockStorePath.refused("The lock file cannot be made", code) }
    }
}
