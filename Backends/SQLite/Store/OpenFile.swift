import PolyStoreBackend

/// A database file that connections of this process have open, under one path.
///
/// SQLite identifies a database by device and inode, and its write-ahead log by the path. Connections of one process that used two names of a file would share
/// their locks, but not the log. All of them therefore use the path of the first. Another process would have a log of its own, so a file with several names is
/// refused to a process that does not have it open.
final class OpenFile: Sendable {
    /// The path that connections use.
    let path: String
    /// The device and inode; nil for a file that is opened without locks.
    private let identity: String?
    private let process = OwningProcess()

    private struct Entry {
        let path: String
        /// A Boolean value that indicates whether the file had one name when it was opened.
        let hadOneName: Bool
        var users = 0
        /// The process that has the file open. A forked child has its copy of the entry, but none of the locks.
        let process = OwningProcess()
    }

    private static let entries = Protected<[String: Entry]>([:])

    /// A file that is opened without locks.
    init(unlocked path: String) { (self.path, identity) = (path, nil) }

    private init(_ path: String, _ identity: String) { (self.path, self.identity) = (path, identity) }

    deinit {
        guard let identity, process.isCurrent else { return }
        Self.entries.withLock { entries in
            entries[identity]?.users -= 1
            if entries[identity]?.users == 0 { entries[identity] = nil }
        }
    }

    /// Opens a file, which must exist.
    /// - Parameter readsHardLinkedFiles: Whether a file with several names can be opened read-only.
    /// - Throws: `io` for a file with several names that this process has not open; `busy` if another process has it open; `misuse` in a forked child whose
    ///   parent has it open.
    static func open(_ path: String, isReadOnly: Bool, readsHardLinkedFiles: Bool) throws -> OpenFile {
        try entries.withLock { entries in
            let storePath = StorePath(path: path)
            let identity = try storePath.identity()
            var entry = entries[identity]
            // SQLite would take the locks of the parent for those of this process.
            try entry?.process.check(path)
            if let found = entry, found.path != path, try !isSame(found.path, identity) {
                throw StoreError(
                    .busy,
                    "The file \(path) is open in this process as \(found.path), which is not its name any more. Close that store first.",
                    location: path)
            }
            if entry == nil || !isReadOnly && entry?.hadOneName == false {
                let names = try storePath.severalNames(removesTemporaryNames: !isReadOnly)
                if let names {
                    guard isReadOnly, readsHardLinkedFiles else {
                        throw storePath.error(
                            names, what: "opened", sideFiles: "The write-ahead log of SQLite is", options: "SQLiteOptions")
                    }
                    if try storePath.mayReadUnlocked(names) { return OpenFile(unlocked: path) }
                }
                entry = entry ?? Entry(path: path, hadOneName: names == nil)
            }
            guard var opened = entry else { return OpenFile(unlocked: path) }
            opened.users += 1
            entries[identity] = opened
            return OpenFile(opened.path, identity)
        }
    }

    /// A Boolean value that indicates whether connections use neither locks nor side files.
    var isUnlocked: Bool { identity == nil }

    private static func isSame(_ path: String, _ identity: String) throws -> Bool {
        let storePath = StorePath(path: path)
        return try storePath.kind() != .absent && storePath.identity() == identity
    }
}

extension StorePath {
    /// Checks that no other process writes to a file with several names, as far as that can be detected.
    /// - Returns: false if the file has a log beside it, which must be read too.
    /// - Throws: `busy` if another process has the file open; `io` if commits are in the log of another name.
    fileprivate func mayReadUnlocked(_ names: Names) throws -> Bool {
        // The bytes that SQLite locks.
        if try isLockedByAnotherProcess(start: 0x4000_0000, count: 512) {
            throw StoreError(
                .busy,
                "The store \(path) has \(names.count) names (hard links to the inode \(names.inode)), and another process has it open, perhaps under another "
                    + "name. Close it there, or open it under the name that it has there, and remove the other names.", location: path)
        }
        for other in names.others where StorePath(path: other).walSize() > 0 {
            throw StoreError(
                .io,
                "The store \(path) was not closed by the last process that wrote to it: its newest commits are in the log of another of its names, "
                    + "\(other). Remove the name \(path), and open the store as \(other).", location: path)
        }
        return walSize() == 0
    }
}
