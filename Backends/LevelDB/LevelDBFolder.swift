import PolyStoreBackend
import PolyStorePlatform

/// The folder of a LevelDB database and its lock.
struct LevelDBFolder {
    let storePath: StorePath
    private var path: String { storePath.path }

    /// Ensures that the folder exists and is empty or a LevelDB database.
    func prepare(mode: UInt32) throws {
        switch try storePath.kind() {
        case .directory:
            let files = try LevelDBFiles(storePath)
            guard !files.hasCurrent else { return }
            try checkUnfinished(files)
            try restrict(mode)
        case .absent:
            guard mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else { throw storePath.refused("The folder cannot be made", errno) }
        case .file, .other:
            throw StoreError(.notAStore, "\(path) is a file, and a LevelDB database is a folder. It was left as it is.", location: path)
        }
    }

    /// Deletes the database with its folder.
    /// - Throws: `notAStore` for a folder that contains other files, which is left unmodified; `io`.
    static func erase(_ path: String) throws {
        let storePath = StorePath(path: path)
        switch try storePath.kind() {
        case .absent: return
        case .file, .other:
            throw StoreError(.notAStore, "\(path) is a file, and a LevelDB database is a folder. It was left as it is.", location: path)
        case .directory: break
        }
        guard try !LevelDBFiles(storePath).hasOthers else {
            throw StoreError(
                .notAStore, "The folder \(path) holds other files than those of a LevelDB database. It was left as it is.", location: path)
        }
        for name in try storePath.names() { try StorePath(path: path + "/" + name).remove() }
        guard rmdir(path) == 0 else { throw storePath.refused("The folder cannot be deleted", errno) }
    }

    /// Accepts an empty folder, and one in which this library's earlier opening was interrupted before it created a database.
    private func checkUnfinished(_ files: LevelDBFiles) throws {
        let isEmpty = files.logs.isEmpty && files.tables.isEmpty && files.manifests.isEmpty && !files.hasTemporaries
        guard !files.hasOthers, isEmpty || files.hasLock else {
            throw StoreError(
                .notAStore, "The folder \(path) is not a LevelDB database: it holds other files. It was left as it is.", location: path)
        }
        // LevelDB writes CURRENT before any data.
        let hasData =
            try !files.tables.isEmpty
            || files.logs.contains { log in
                if case .file(let bytes) = try StorePath(path: path + "/" + LevelDBFiles.log(log)).kind() { return bytes > 0 }
                return false
            }
        guard !hasData else {
            throw StoreError(
                .corrupt, "The store \(path) is damaged: its file CURRENT is missing. It was left as it is; restore a backup.",
                location: path)
        }
    }

    /// Removes permissions from an existing folder that becomes a store, so that it has those of a new one. All users who can enter the folder can read
    /// LevelDB's files.
    private func restrict(_ mode: UInt32) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { throw storePath.refused("The folder cannot be read", errno) }
        let kept = found.st_mode & (~0o777 | mode_t(mode))
        guard kept != found.st_mode else { return }
        guard chmod(path, kept & 0o7777) == 0 else {
            throw storePath.refused(
                "Other users can read the folder, and its permissions cannot be changed. Use another one, or allow it with LevelDBOptions.folderMode",
                errno)
        }
    }

    static let lockName = "polystore.lock"

    /// Takes this library's lock, which belongs to the descriptor. LevelDB's own lock belongs to the process, and a failing second opening would release the
    /// lock of the first.
    /// - Returns: the descriptor, which the caller closes, and the mark in the file; `nil` without a valid one, as in a store that no opening has completed.
    /// - Throws: `busy`, `full`, `io`.
    func lock() throws -> (descriptor: Int32, mark: LevelDBMark?) {
        let file = StorePath(path: path + "/" + Self.lockName)
        do {
            let descriptor = try file.openLocked(mode: 0o600)
            let mark = LevelDBMark.read(descriptor)
            guard mark == nil else { return (descriptor, mark) }
            do {
                // The lock file marks a folder without a complete database as this library's, so it must be durable before LevelDB's files are. An earlier
                // opening may have made it and failed to flush the folder.
                try file.flushFolder()
                return (descriptor, nil)
            } catch {
                Self.unlock(descriptor)
                throw error
            }
        } catch var error as StoreError {
            error.location = path
            if error.code == .busy { error.message = "The store \(path) is open in another process, and LevelDB serves one at a time." }
            throw error
        }
    }

    static func unlock(_ descriptor: Int32) { StorePath.closeLocked(descriptor) }

    /// Renames a temporary folder to this folder's path, durably.
    func take(_ other: TemporaryEntry) throws {
        guard rename(other.storePath.path, path) == 0 else { throw storePath.refused("The copy cannot be named", errno) }
        other.end()
        try flushName()
    }

    /// Flushes the folder's entry in its parent. A parent folder that this process may not read cannot be flushed.
    func flushName() throws {
        if access(storePath.parent, R_OK) == 0 { try storePath.flushFolder() }
    }
}
