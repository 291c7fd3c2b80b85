import PolyStoreBackend
import PolyStorePlatform

/// The replacement of a file by its compacted copy.
///
/// LMDB's locks are on the lock file, so the data file and the lock file are replaced together: processes that open the store afterwards use the new lock file,
/// and those that have it open use the old one. Therefore no other process may have it open. A crash leaves the old file or the new one, in both cases
/// without a lock file or with a new one; LMDB creates a missing lock file and fills an empty one.
///
/// The new file is opened before the exchange, under its temporary name, because opening needs address space and descriptors. Renaming affects neither the map
/// nor the locks.
extension LMDBFile {
    /// The path has another file than expected, because it was replaced.
    struct Replaced: Error {}

    private var lockPath: String { storePath.path + "-lock" }

    /// A compacted file beside the store, with the lock file that LMDB uses with it, until both have the names of the store's files.
    struct Compacted {
        fileprivate let entry: TemporaryEntry
        var storePath: StorePath { entry.storePath }
        fileprivate var lockPath: String { storePath.path + "-lock" }
        fileprivate var oldLockPath: String { storePath.path + "-old-lock" }

        /// Removes the files, except for those that have the names of the store.
        func remove() { entry.remove() }
    }

    /// Creates a file beside the store and flushes it. Call it with LMDB's write lock held, so that no other process does the same.
    /// - Parameter write: Writes the contents to a descriptor.
    func makeCompacted(mode: UInt32, _ write: (Int32) throws -> Void) throws -> Compacted {
        storePath.removeLeftovers()
        let compacted = Compacted(entry: try TemporaryEntry(beside: storePath, mode: mode))
        do {
            try Self.keepAccess(of: storePath, compacted.entry.descriptor)
            try write(compacted.entry.descriptor)
            try compacted.storePath.flush(compacted.entry.descriptor)
            try makeLock(of: compacted)
            return compacted
        } catch {
            compacted.remove()
            throw error
        }
    }

    /// Creates the lock file of the compacted file with the owner and the permissions of the store's.
    private func makeLock(of compacted: Compacted) throws {
        let lock = open(compacted.lockPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard lock >= 0 else { throw StorePath(path: compacted.lockPath).refused("The lock file cannot be made", errno) }
        // LMDB has no lock on the new file yet, so closing it releases none.
        defer { Self.close(lock) }
        try Self.keepAccess(of: StorePath(path: lockPath), lock)
    }

    /// Gives a new file the owner and the permissions of another one.
    private static func keepAccess(of other: StorePath, _ descriptor: Int32) throws {
        var (old, new) = (stat(), stat())
        guard stat(other.path, &old) == 0, fstat(descriptor, &new) == 0 else { throw other.refused("The file cannot be reached", errno) }
        if old.st_uid != new.st_uid || old.st_gid != new.st_gid, fchown(descriptor, old.st_uid, old.st_gid) != 0 {
            throw other.refused("The compacted file cannot be given the same owner", errno)
        }
        guard fchmod(descriptor, old.st_mode & 0o777) == 0 else { throw other.refused("The permissions cannot be set", errno) }
    }

    /// Takes the lock that LMDB takes exclusively while it creates the lock file, and shared while a process has the file open. This process has it open, so its
    /// lock becomes exclusive.
    /// - Parameter descriptor: A descriptor of the lock file, opened if necessary. It must stay open until the environment is closed, even after an error,
    ///   because closing it releases all locks of this process on the file.
    /// - Throws: `busy` while another process has the file open.
    func lockAgainstOthers(_ descriptor: inout Int32?) throws {
        let lock = descriptor ?? open(lockPath, O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { throw StorePath(path: lockPath).refused("The lock file cannot be opened", errno) }
        descriptor = lock
        guard set(F_WRLCK, lock) else {
            guard errno == EAGAIN || errno == EACCES else {
                throw StorePath(path: lockPath).refused("The lock file cannot be locked", errno)
            }
            throw StoreError(
                .busy,
                "The store \(storePath.path) cannot be compacted while another process has it open, because its file is replaced. Close it there and try again.",
                location: storePath.path, engineCode: Int(errno))
        }
    }

    /// Makes the lock shared again.
    func unlockAgainstOthers(_ descriptor: Int32?) { if let descriptor { _ = set(F_RDLCK, descriptor) } }

    private func set(_ type: Int32, _ descriptor: Int32) -> Bool {
        var range = flock()
        range.l_type = Int16(type)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = 0
        range.l_len = 1
        return fcntl(descriptor, F_SETLK, &range) == 0
    }

    /// Gives the compacted file and its lock file, which are open in LMDB, the names of the store's files.
    /// - Throws: an error, after which all files have their old names.
    func replace(with compacted: Compacted) throws {
        guard rename(lockPath, compacted.oldLockPath) == 0 else { throw storePath.refused("The lock file cannot be renamed", errno) }
        guard rename(compacted.lockPath, lockPath) == 0 else {
            let code = errno
            rename(compacted.oldLockPath, lockPath)
            throw storePath.refused("The new lock file cannot be renamed", code)
        }
        guard rename(compacted.storePath.path, storePath.path) == 0 else {
            let code = errno
            rename(lockPath, compacted.lockPath)
            rename(compacted.oldLockPath, lockPath)
            throw storePath.refused("The compacted file cannot be renamed", code)
        }
        unlink(compacted.oldLockPath)
    }
}
