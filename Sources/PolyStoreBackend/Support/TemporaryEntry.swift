internal import CRecordBytes
import PolyStorePlatform

/// A file or folder beside a store, in use by this process until it gets its final name or is removed: a copy, a compacted file, the folder of a rehearsal.
///
/// Its name is `NAME.NUMBER.partial`. Half of the number is random, and the other half is a checksum of the name and the first half, so a name that a person
/// or another program chooses is not taken for one. While it is in use, this process holds a descriptor lock (`flock`) on it, which the system releases when the
/// process ends. An entry without this lock is a leftover; see ``StorePath/removeLeftovers()``. Neither process ids nor times are compared.
package final class TemporaryEntry: Sendable {
    package let storePath: StorePath
    /// The descriptor that has the lock: open for reading and writing for a file, for reading for a folder.
    package let descriptor: Int32
    private let identity: Identity
    private let isInUse = Protected(true)

    fileprivate struct Identity: Hashable {
        let device: dev_t
        let inode: ino_t

        init(_ found: stat) { (device, inode) = (found.st_dev, found.st_ino) }
    }

    /// The entries of this process. They are not opened to test their locks, because closing a descriptor of a file can release other locks of the process.
    /// The lock is held while an entry is created and while leftovers are removed.
    fileprivate static let ofThisProcess = Protected<Set<Identity>>([])

    /// Creates an empty file, or an empty folder.
    /// - Parameter final: The path of the store that the entry belongs to.
    /// - Throws: `full`, `io`.
    package init(beside final: StorePath, isFolder: Bool = false, mode: UInt32) throws {
        (storePath, descriptor, identity) = try Self.ofThisProcess.withLock { entries in
            while true {
                let storePath = final.temporaryPath()
                guard let descriptor = try Self.make(storePath, beside: final, isFolder: isFolder, mode: mode) else { continue }
                // A file system without such locks cannot determine whether an entry is used, and its leftovers are kept.
                while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
                var (own, named) = (stat(), stat())
                if fstat(descriptor, &own) == 0, lstat(storePath.path, &named) == 0, Identity(own) == Identity(named) {
                    entries.insert(Identity(own))
                    return (storePath, descriptor, Identity(own))
                }
                // An opening in another process has removed it before it was locked.
                close(descriptor)
            }
        }
    }

    /// - Returns: The descriptor; `nil` if the name is taken, or the folder was removed again.
    private static func make(_ storePath: StorePath, beside final: StorePath, isFolder: Bool, mode: UInt32) throws -> Int32? {
        if isFolder, mkdir(storePath.path, mode_t(mode)) != 0 {
            if errno == EEXIST { return nil }
            throw final.refused("No folder with a temporary name can be made beside it", errno)
        }
        let flags = isFolder ? O_RDONLY | O_DIRECTORY | O_NOFOLLOW : O_RDWR | O_CREAT | O_EXCL
        let descriptor = open(storePath.path, flags | O_CLOEXEC, mode_t(mode))
        if descriptor >= 0 { return descriptor }
        let code = errno
        if code == (isFolder ? ENOENT : EEXIST) { return nil }
        if isFolder { rmdir(storePath.path) }
        throw final.refused("No \(isFolder ? "folder" : "file") with a temporary name can be made beside it", code)
    }

    /// Ends the use of an entry that has its final name, or whose path is removed already.
    package func end() {
        let ends = isInUse.withLock { isInUse in
            defer { isInUse = false }
            return isInUse
        }
        guard ends else { return }
        _ = Self.ofThisProcess.withLock { $0.remove(identity) }
        StorePath.closeLocked(descriptor)
    }

    /// Removes the entry and its side files, and ends its use. Ignores errors: the next opening of the store tries again.
    package func remove() {
        guard isInUse.withLock({ $0 }) else { return }
        storePath.removeEntry(descriptor)
        end()
    }

    deinit { remove() }
}

extension StorePath {
    private static let temporarySuffix = ".partial"
    /// The suffixes of files that engines keep beside a file.
    private static let sideSuffixes = ["-lock", "-old-lock", "-wal", "-shm", "-journal"]

    private static func split(_ path: String) -> (folder: String, name: String) {
        guard let cut = path.lastIndex(of: "/") else { return ("", path) }
        return (String(path[...cut]), String(path[path.index(after: cut)...]))
    }

    /// Returns a new path for a ``TemporaryEntry``.
    fileprivate func temporaryPath() -> StorePath {
        var (folder, name) = Self.split(path)
        // File systems limit names to 255 bytes.
        while name.utf8.count > 200 { name.removeLast() }
        let random = UInt32.random(in: 0 ... .max)
        let number = UInt64(random) << 32 | UInt64(Self.checksum(name, random))
        return StorePath(path: "\(folder)\(name).\(number)\(Self.temporarySuffix)")
    }

    private static func checksum(_ name: String, _ random: UInt32) -> UInt32 {
        var bytes = Array(name.utf8)
        withUnsafeBytes(of: random.littleEndian) { bytes.append(contentsOf: $0) }
        return bytes.withUnsafeBytes { ~polystore_crc32c(0xffff_ffff, $0.baseAddress, $0.count) }
    }

    /// Returns whether ``temporaryPath()`` has returned a path with this name.
    private static func isTemporaryName(_ name: Substring) -> Bool {
        guard name.hasSuffix(temporarySuffix) else { return false }
        let start = name.dropLast(temporarySuffix.count)
        guard let dot = start.lastIndex(of: "."), dot != start.startIndex, let number = UInt64(start[start.index(after: dot)...]) else {
            return false
        }
        let final = String(start[..<dot])
        return UInt32(truncatingIfNeeded: number) == checksum(final, UInt32(truncatingIfNeeded: number >> 32))
            && start.utf8.elementsEqual("\(final).\(number)".utf8)
    }

    /// Removes what terminated processes have left in the folder of the store while they copied, compacted or rehearsed a migration: the entries with the names
    /// of a ``TemporaryEntry`` that no process uses. Ignores errors; the next opening tries again.
    ///
    /// Call it when the store is opened for writing, and before a copy is made.
    /// - Returns: The removed paths.
    @discardableResult
    package func removeLeftovers() -> [String] {
        let folder = Self.split(path).folder
        let names = (try? StorePath(path: folder.isEmpty ? "." : folder).names()) ?? []
        var removed: [String] = []
        for name in names where name.contains(Self.temporarySuffix) {
            if Self.isTemporaryName(name[...]) {
                if StorePath(path: folder + name).removeLeftover() { removed.append(folder + name) }
                continue
            }
            guard let suffix = Self.sideSuffixes.first(where: { name.hasSuffix($0) && Self.isTemporaryName(name.dropLast($0.count)) })
            else {
                continue
            }
            // A side file is created after its file. Without that file it has no use any more.
            var found = stat()
            let main = folder + name.dropLast(suffix.count)
            if lstat(main, &found) != 0, errno == ENOENT, unlink(folder + name) == 0 { removed.append(folder + name) }
        }
        return removed.sorted()
    }

    /// Removes the leftovers in the folder of the store, and logs their paths; see ``removeLeftovers()``.
    package func removeLeftovers(logger: any StoreLogger) {
        for path in removeLeftovers() {
            logger.write(.notice, "Removed \(path), which a copy, a compaction or a rehearsal of a process left that has ended since.")
        }
    }

    /// Removes a temporary entry that no process uses.
    private func removeLeftover() -> Bool {
        TemporaryEntry.ofThisProcess.withLock { entries in
            var (named, own) = (stat(), stat())
            guard lstat(path, &named) == 0, [S_IFREG, S_IFDIR].contains(named.st_mode & S_IFMT) else { return false }
            guard !entries.contains(TemporaryEntry.Identity(named)) else { return false }
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { Self.closeLocked(descriptor) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &own) == 0, lstat(path, &named) == 0,
                TemporaryEntry.Identity(own) == TemporaryEntry.Identity(named)
            else { return false }
            return removeEntry(descriptor)
        }
    }

    /// Removes an entry that is locked through a descriptor, and its side files.
    @discardableResult
    fileprivate func removeEntry(_ descriptor: Int32) -> Bool {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { return false }
        let isFolder = found.st_mode & S_IFMT == S_IFDIR
        if isFolder { Self.removeContents(of: descriptor, depth: 0) }
        guard isFolder ? rmdir(path) == 0 : unlink(path) == 0 else { return false }
        for suffix in Self.sideSuffixes { unlink(path + suffix) }
        return true
    }

    /// Removes the files of a folder, and of the folders in it, down to the folder of a store in the folder of a rehearsal. Follows no symbolic links.
    private static func removeContents(of descriptor: Int32, depth: Int) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return }
        guard let folder = fdopendir(copy) else {
            close(copy)
            return
        }
        var names: [String] = []
        rewinddir(folder)
        while let entry = readdir(folder) {
            let name = StorePath.name(of: entry)
            if name != ".", name != ".." { names.append(name) }
        }
        closedir(folder)
        for name in names where unlinkat(descriptor, name, 0) != 0 && depth < 2 {
            let inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { continue }
            removeContents(of: inner, depth: depth + 1)
            close(inner)
            _ = unlinkat(descriptor, name, AT_REMOVEDIR)
        }
    }
}
