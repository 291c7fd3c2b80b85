import PolyStorePlatform

/// The hard links of a file. Engines keep logs and locks in files beside the store, which are named after its path, so processes that open one file by two
/// names do not see each other.
extension StorePath {
    /// The names of a file that has more than one.
    package struct Names: Sendable, Hashable {
        /// The number of names, without those that interrupted copies have left.
        package let count: Int
        /// The device and the inode, as numbers.
        package let device: UInt64
        package let inode: UInt64
        /// The paths of the other names in the same folder. Names in other folders cannot be found.
        package let others: [String]
    }

    /// Returns the names of a regular file that has more than one; nil for one name. Some file systems report no number of names, or always 1.
    ///
    /// A copy gets its name by `link`, and its temporary name is removed afterwards. A process that is killed in between leaves both names, so temporary names
    /// are not counted.
    /// - Parameter removesTemporaryNames: Whether temporary names that interrupted copies have left in the folder are removed.
    /// - Throws: `io`.
    package func severalNames(removesTemporaryNames: Bool) throws -> Names? {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        guard found.st_mode & S_IFMT == S_IFREG, found.st_nlink > 1 else { return nil }
        var (others, temporaryCount) = ([String](), 0)
        for other in otherNames(of: found) {
            if !Self.isTemporary(other) {
                others.append(other)
            } else if !removesTemporaryNames || unlink(other) != 0 {
                temporaryCount += 1
            }
        }
        // Also counts names that the copying process has removed in the meantime.
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        let count = Int(clamping: found.st_nlink) - temporaryCount
        guard count > 1 else { return nil }
        return Names(
            count: count, device: UInt64(truncatingIfNeeded: found.st_dev), inode: UInt64(truncatingIfNeeded: found.st_ino), others: others)
    }

    /// Returns the paths of the other names of a file in its folder; none if the folder cannot be read.
    private func otherNames(of file: stat) -> [String] {
        let cut = path.lastIndex(of: "/")
        let folder = cut.map { String(path[...$0]) } ?? ""
        let own = cut.map { String(path[path.index(after: $0)...]) } ?? path
        let names = (try? StorePath(path: folder.isEmpty ? "." : folder).names()) ?? []
        return names.sorted().compactMap { name in
            var found = stat()
            guard name != own, lstat(folder + name, &found) == 0, found.st_dev == file.st_dev, found.st_ino == file.st_ino else {
                return nil
            }
            return folder + name
        }
    }

    /// Returns whether a path has the form of a temporary one (``TemporaryEntry``). The copy may have been renamed since.
    private static func isTemporary(_ path: String) -> Bool {
        let suffix = ".partial"
        guard path.hasSuffix(suffix) else { return false }
        let start = path.dropLast(suffix.count)
        guard let dot = start.lastIndex(of: "."), dot != start.startIndex else { return false }
        let number = start[start.index(after: dot)...]
        return UInt64(number) != nil && number.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    }

    /// Returns the error for a store whose file has several names.
    /// - Parameters:
    ///   - names: The names.
    ///   - what: What cannot be done: "opened", "compacted".
    ///   - sideFiles: The files beside the store that are named after its path.
    ///   - options: The type of the engine's options that permit reading; nil if they do not permit the operation.
    package func error(_ names: Names, what: String, sideFiles: String, options: String?) -> StoreError {
        let other = names.others.first.map { "; another is \($0)" } ?? ""
        let reading = options.map { " To read it under one of its names, open it read-only with `readsHardLinkedFiles` of `\($0)`." } ?? ""
        return StoreError(
            .io,
            "The store \(path) cannot be \(what): its file has \(names.count) names (hard links to the inode \(names.inode) on the device \(names.device)\(other)). "
                + "\(sideFiles) named after the path, so processes that use different names would lose each other's commits. Remove the other names, "
                + "which `find FOLDER -xdev -inum \(names.inode)` lists, or copy the file and open the copy.\(reading)", location: path)
    }

    /// A file state that detects writes between two reads of it.
    package struct Stamp: Equatable, Sendable {
        package let device: dev_t
        package let inode: ino_t
        package let bytes: Int
        package let seconds: Int
        package let nanoseconds: Int
    }

    package func stamp() throws -> Stamp {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        #if canImport(Darwin)
            let time = found.st_mtimespec
        #else
            let time = found.st_mtim
        #endif
        return Stamp(
            device: found.st_dev, inode: found.st_ino, bytes: Int(found.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
    }

    /// Returns whether another process holds an `fcntl` lock on a range of the file. The file must not be open in this process, because closing a descriptor
    /// releases the locks of the process.
    /// - Returns: false if the file does not exist.
    /// - Throws: `io`.
    package func isLockedByAnotherProcess(start: Int, count: Int) throws -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return false }
            throw refused("The file cannot be read", errno)
        }
        defer { close(descriptor) }
        var range = flock()
        range.l_type = Int16(F_WRLCK)
        range.l_whence = Int16(SEEK_SET)
        range.l_start = off_t(start)
        range.l_len = off_t(count)
        guard fcntl(descriptor, F_GETLK, &range) == 0 else { throw refused("The locks of the file cannot be read", errno) }
        return range.l_type != Int16(F_UNLCK)
    }
}
