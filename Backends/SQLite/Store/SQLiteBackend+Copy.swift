import CSQLite
import PolyStoreBackend
import PolyStorePlatform

extension SQLiteBackend {
    /// Copies the pages of one snapshot into a temporary file beside the destination, flushes it and links it under its final name. A process that ends during
    /// the copy leaves only the temporary file, whose name ends in `.partial`; one that ends after it leaves both names of one file. The next opening of a store
    /// in the folder removes the temporary name.
    func copy(to location: String, reporting report: MaintenanceReport) throws {
        let destination = StorePath(path: StorePath.resolve(location))
        guard try destination.kind() == .absent else { throw taken(destination) }
        destination.removeLeftovers()
        let partial = try TemporaryEntry(beside: destination, mode: StorePath(path: pool.path).mode())
        defer { partial.remove() }
        try copyPages(to: partial.storePath, reporting: report)
        try partial.storePath.flush(partial.descriptor)
        // Unlike `rename`, `link` never replaces a file that another process has created in the meantime.
        guard link(partial.storePath.path, destination.path) == 0 else {
            if errno == EEXIST { throw taken(destination) }
            throw destination.refused("The copy cannot be given its name", errno)
        }
        partial.remove()
        try destination.flushFolder()
    }

    private func taken(_ destination: StorePath) -> StoreError {
        StoreError(
            .io,
            "Cannot copy the store \(pool.path) to \(destination.path): there is a file or folder at that path. Choose another one, or remove it.",
            location: destination.path)
    }

    /// The number of pages that are copied between two reports.
    private static let pagesPerStep: Int32 = 1024

    private func copyPages(to storePath: StorePath, reporting report: MaintenanceReport) throws {
        let reader = try pool.borrowReader()
        defer { pool.giveBack(reader: reader) }
        // Checks that the file is still the opened store, and holds a snapshot of it for the copy.
        _ = try reader.begin(writing: false)
        defer { reader.rollback() }
        var opened: OpaquePointer?
        // No other connection opens the file. On some systems SQLite's locks would exclude the descriptor lock of the temporary file.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI
        let code = sqlite3_open_v2(Connection.uri(storePath.path, "nolock=1"), &opened, flags, ReportingFileSystem.name)
        defer { sqlite3_close(opened) }
        func failure(_ code: Int32) -> StoreError {
            StoreError(sqlite: code, "Copying the store \(pool.path)", path: storePath.path, connection: opened)
        }
        guard code == SQLITE_OK else { throw failure(code) }
        // No journal and no flushes are needed: the file is flushed once, at the end.
        for pragma in ["PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"] {
            let code = sqlite3_exec(opened, pragma, nil, nil, nil)
            guard code == SQLITE_OK else { throw failure(code) }
        }
        guard let backup = sqlite3_backup_init(opened, "main", reader.handle, "main") else {
            throw failure(sqlite3_extended_errcode(opened))
        }
        // The reader's snapshot stays open between the steps, so every step copies the same version.
        var step = SQLITE_OK
        do {
            repeat {
                step = sqlite3_backup_step(backup, Self.pagesPerStep)
                let (left, total) = (Int(sqlite3_backup_remaining(backup)), Int(sqlite3_backup_pagecount(backup)))
                try report(MaintenanceProgress(activity: "pages", completed: total - left, total: total))
            } while step == SQLITE_OK
        } catch {
            sqlite3_backup_finish(backup)
            throw error
        }
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else { throw failure(step == SQLITE_DONE ? end : step) }
    }
}

extension StorePath {
    /// Returns the permissions of the file.
    fileprivate func mode() throws -> UInt32 {
        var found = stat()
        guard stat(path, &found) == 0 else { throw refused("The file cannot be reached", errno) }
        return UInt32(found.st_mode) & 0o777
    }
}
