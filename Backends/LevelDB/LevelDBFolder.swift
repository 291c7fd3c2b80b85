import PolyStoreBackend

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The folder of a LevelDB database, and the lock on it.
struct LevelDBFolder {
    let place: FilePlace
    private var path: String { place.path }

    /// Makes sure that there is a folder that is empty or LevelDB's.
    func prepare(mode: UInt32) throws {
        switch try place.kind() {
        case .directory:
            let files = try LevelDBFiles(place)
            guard !files.hasCurrent else { return }
            try checkUnfinished(files)
            try restrict(mode)
        case .absent:
            guard mkdir(path, mode_t(mode)) == 0 || errno == EEXIST else { throw place.refused("The folder cannot be made", errno) }
        case .file, .other:
            throw StoreError(.notAStore, "\(path) is a file, and a LevelDB database is a folder. It was left as it is.", url: path)
        }
    }

    /// Accepts an empty folder, and one in which an earlier opening of this library was interrupted before there was a database.
    private func checkUnfinished(_ files: LevelDBFiles) throws {
        let isEmpty = files.logs.isEmpty && files.tables.isEmpty && files.manifests.isEmpty && !files.hasTemporaries
        guard !files.hasOthers, isEmpty || files.hasLock else {
            throw StoreError(
                .notAStore, "The folder \(path) is no LevelDB database: it holds other files. It was left as it is.", url: path)
        }
        // LevelDB writes CURRENT before any data.
        let hasData =
            try !files.tables.isEmpty
            || files.logs.contains { log in
                if case .file(let bytes) = try FilePlace(path: path + "/" + LevelDBFiles.log(log)).kind() { return bytes > 0 }
                return false
            }
        guard !hasData else {
            throw StoreError(
                .corrupt, "The store \(path) is damaged: its file CURRENT is missing. It was left as it is; restore a backup.", url: path)
        }
    }

    /// Takes from an existing folder that becomes a store the permissions that a new one would not have: LevelDB's files are readable by everybody who
    /// can enter the folder.
    private func restrict(_ mode: UInt32) throws {
        var found = stat()
        guard stat(path, &found) == 0 else { throw place.refused("The folder cannot be read", errno) }
        let kept = found.st_mode & (~0o777 | mode_t(mode))
        guard kept != found.st_mode else { return }
        guard chmod(path, kept & 0o7777) == 0 else {
            throw place.refused(
                "Other users can read the folder, and its permissions cannot be changed. Use another one, or allow it with LevelDBOptions.folderMode",
                errno)
        }
    }

    static let lockName = "polystore.lock"

    /// Takes this library's own lock, which belongs to the descriptor: LevelDB's belongs to the process, and a second opening that fails would
    /// take it away from the first.
    /// - Returns: the descriptor to close at the end.
    /// - Throws: `busy`.
    func lock() throws -> Int32 {
        let file = FilePlace(path: path + "/" + Self.lockName)
        do {
            let isNew = try file.kind() == .absent
            let descriptor = try file.openLocked(mode: 0o600)
            guard isNew else { return descriptor }
            do {
                // It shows that a folder without a whole database is this library's, so it must not become durable later than LevelDB's files.
                try file.flushFolder()
                return descriptor
            } catch {
                Self.unlock(descriptor)
                throw error
            }
        } catch var error as StoreError {
            error.url = path
            if error.code == .busy { error.message = "The store \(path) is open in another process, and LevelDB serves one at a time." }
            throw error
        }
    }

    static func unlock(_ descriptor: Int32) { FilePlace.closeLocked(descriptor) }

    /// Makes the folder's own name durable. A parent folder that this process may not read cannot be flushed.
    func flushName() throws {
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        if access(parent, R_OK) == 0 { try place.flushFolder() }
    }
}
