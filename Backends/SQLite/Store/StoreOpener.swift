import CSQLite
import PolyStoreBackend

/// Opens a store, or makes it; refuses everything else without touching it.
struct StoreOpener {
    let path: String
    let options: SQLiteOptions
    let request: OpenRequest

    private var place: FilePlace { FilePlace(path: path) }

    func open() throws -> SQLiteBackend {
        try checkLength()
        let tables = try StoreTables(request.schema)
        let deadline = Deadline(milliseconds: options.busyTimeout)
        while true {
            do {
                return try open(tables)
            } catch let error as StoreError where error.code == .busy && !deadline.isPast {
                // While the log is made or taken away SQLite does not wait by itself, as it does at other times.
                Deadline.pause(milliseconds: 2)
            }
        }
    }

    private var mayReset: Bool { request.resetsOnModelMismatch && !request.isReadOnly }

    /// SQLite itself says only that it cannot open such a file.
    private func checkLength() throws {
        // Room for "-journal" is part of the limit.
        let longest = (sqlite3_vfs_find(nil).map { Int($0.pointee.mxPathname) } ?? 512) - 8
        guard path.utf8.count <= longest else {
            throw StoreError(
                .io,
                "The path has \(path.utf8.count) bytes, and SQLite takes paths of up to \(longest): \(path). Move the store to a folder with a shorter "
                    + "path; a symbolic link does not help, as it is followed first.", url: path)
        }
    }

    private func open(_ tables: StoreTables) throws -> SQLiteBackend {
        try prepareFile()
        do {
            return try open(tables, request.isReadOnly ? .reading : .writing)
        } catch let error as StoreError
            where request.isReadOnly && [SQLITE_CANTOPEN, SQLITE_READONLY].contains(Int32(error.engineCode & 0xff))
            && !place.folderTakesFiles
        {
            guard place.walSize() == 0 else {
                throw StoreError(
                    .io,
                    "The store \(path) was not closed by the last that wrote to it: its newest commits are in the log beside it, and to read that one "
                        + "SQLite must make a file in the folder, which takes none. Make the folder writable, or open the store for writing once.",
                    url: path, engineCode: error.engineCode, underlying: error.underlying)
            }
            return try open(tables, .readingUnchangedFile)
        }
    }

    private func open(_ tables: StoreTables, _ access: Connection.Access) throws -> SQLiteBackend {
        let hadLog = place.walSize() > 0
        let connection = try Connection(path: path, tables: tables, access: access, busyTimeout: options.busyTimeout)
        do {
            return try open(connection, tables, access, hadLog: hadLog)
        } catch {
            // A refused store stays as it is, its log included.
            if hadLog { polystore_sqlite_leave_wal(connection.handle) }
            connection.close()
            throw error
        }
    }

    /// Makes sure that there is a file, with the right permissions.
    private func prepareFile() throws {
        switch try place.kind() {
        case .file: break
        case .absent:
            guard !request.isReadOnly else {
                throw StoreError(.io, "There is no file \(path), and a store opened for reading only is not made.", url: path)
            }
            try place.create(mode: options.fileMode)
        case .directory: throw StoreError(.notAStore, "\(path) is a folder, and a file was expected. It was left as it is.", url: path)
        case .other: throw StoreError(.io, "\(path) is no ordinary file.", url: path)
        }
    }

    private func open(_ connection: Connection, _ tables: StoreTables, _ access: Connection.Access, hadLog: Bool) throws -> SQLiteBackend {
        if !request.isReadOnly && sqlite3_db_readonly(connection.handle, "main") != 0 {
            throw StoreError(.io, "The file may not be written: \(path). Open it for reading only, or change its permissions.", url: path)
        }
        let metadata: StoreMetadata
        var isMade = false
        if let found = try read(connection) {
            metadata = found
            if !hadLog { try checkPages(connection) }
            if !request.isReadOnly { try useLog(connection) }
            try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        } else {
            guard !request.isReadOnly else {
                throw StoreError(.notAStore, "The file \(path) is empty; open it for writing to make a store of it.", url: path)
            }
            metadata = try create(connection, tables)
            isMade = true
        }
        let pool = try ConnectionPool(
            writer: connection, storeID: metadata.storeID, options: options, access: access,
            isLogFlushed: !hadLog && (isMade || place.walSize() == 0), logger: request.logger)
        // SQLite limits a whole row by the same number; a little is left for the other fields.
        let largest = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1))
        return SQLiteBackend(pool: pool, metadata: metadata, largestValue: largest - largest / 100)
    }

    /// SQLite reads what is missing of the last page as zeros. With a log that is what a checkpoint that was interrupted leaves; without one the file was cut.
    /// - Throws: `corrupt`.
    private func checkPages(_ connection: Connection) throws {
        let bytes = try place.stamp().bytes
        guard let pageSize = try connection.integer("PRAGMA page_size"), pageSize > 0, bytes % Int(pageSize) != 0 else { return }
        throw StoreError(
            .corrupt,
            "The store \(path) has \(bytes) bytes, which is no multiple of its page size of \(pageSize): its end is missing. Restore it from a copy.",
            url: path)
    }

    /// What the store says about itself, all of one version.
    /// - Returns: nil for an empty file, and for a store that is to be emptied.
    private func read(_ connection: Connection) throws -> StoreMetadata? {
        try connection.execute("BEGIN")
        defer { connection.rollback() }
        do { return try metadata(connection) } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            return nil
        }
    }

    /// In a transaction.
    /// - Returns: nil for an empty file.
    /// - Throws: `notAStore`, `corrupt`, and what ``StoreMetadata/check(_:supportedFormat:url:)`` throws.
    private func metadata(_ connection: Connection) throws -> StoreMetadata? {
        guard case .store = try Self.contents(connection) else { return nil }
        let metadata = try MetadataTable(connection: connection).read(for: request)
        try metadata.check(request, supportedFormat: StoreTables.format, url: path)
        let tables = connection.tables
        if tables.schema.links.contains(where: { $0.sharedName != nil }) {
            let there = Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
            for link in tables.schema.links {
                if let shared = link.sharedName, there.contains(shared), !there.contains(tables.links[link.index].plainName) {
                    throw link.mixed(path)
                }
            }
        }
        return metadata
    }

    private enum Contents { case empty, store }

    /// Looks, without changing anything.
    /// - Throws: `notAStore`.
    private static func contents(_ connection: Connection) throws -> Contents {
        do {
            // In one statement: between two of them somebody else may have made the store.
            let found = try connection.integer(
                """
                SELECT CASE WHEN count(*) = 0 THEN 0 WHEN sum(name = 'polystore_metadata' AND type = 'table') = 1 THEN 1 ELSE 2 END
                FROM sqlite_master
                """)
            guard found != 2 else { throw foreign(connection, "it is a SQLite database of somebody else") }
            if try connection.texts("PRAGMA encoding") != ["UTF-8"] { throw foreign(connection, "its text is not UTF-8") }
            return found == 1 ? .store : .empty
        } catch let error as StoreError where error.engineCode & 0xff == Int(SQLITE_NOTADB) {
            throw foreign(connection, "it is no SQLite database, or an encrypted one", error)
        }
    }

    private static func foreign(_ connection: Connection, _ why: String, _ error: StoreError? = nil) -> StoreError {
        StoreError(
            .notAStore, "The file \(connection.path) is no store: \(why). It was left as it is.", url: connection.path,
            engineCode: error?.engineCode ?? 0, underlying: error?.underlying)
    }

    /// All tables and the metadata in one transaction, and the end of what was there before: after a crash there is the one or the other.
    private func create(_ connection: Connection, _ tables: StoreTables) throws -> StoreMetadata {
        try connection.execute("PRAGMA page_size = \(options.pageSize)")
        try useLog(connection)
        try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        try connection.execute("BEGIN IMMEDIATE")
        var isEmptied = false
        do {
            // Judged again by the one who may write: another process may have made the store, or emptied it and filled it anew.
            do {
                if let found = try metadata(connection) {
                    try connection.execute("ROLLBACK")
                    return found
                }
            } catch let error as StoreError where error.code == .migrationRequired && mayReset {
                request.logger.write(.notice, "The store \(path) was written for another model and is emptied, as asked: \(error.message)")
                try clear(connection)
                isEmptied = true
            }
            let metadata = StoreMetadata(format: StoreTables.format, request: request)
            for sql in tables.creationSQL { try connection.execute(sql) }
            try connection.execute("PRAGMA application_id = \(StoreTables.applicationID)")
            try MetadataTable(connection: connection).write(metadata)
            try connection.execute("COMMIT")
            if isEmptied { try giveBackRoom(connection) }
            return metadata
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Drops everything, in the running transaction. The file itself stays: whoever has it open would go on writing to a deleted one.
    private func clear(_ connection: Connection) throws {
        // With a virtual table go those that it keeps itself, so it comes first.
        for (kind, condition) in [
            ("VIEW", "type = 'view'"), ("TRIGGER", "type = 'trigger'"), ("TABLE", "type = 'table' AND sql LIKE 'CREATE VIRTUAL %'"),
            ("TABLE", "type = 'table'"),
        ] {
            for name in try connection.texts("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND \(condition)")
            {
                try connection.execute("DROP \(kind) \(SQLNames.quoted(name))")
            }
        }
    }

    /// Makes the file of a store that was emptied as small as a new one, where nobody holds that up.
    private func giveBackRoom(_ connection: Connection) throws {
        do { try connection.execute("VACUUM") } catch let error as StoreError where [.busy, .full].contains(error.code) {
            // The room is used again by what is written next.
        }
    }

    /// Write-ahead log: readers and the writer do not wait for each other.
    private func useLog(_ connection: Connection) throws {
        let mode = try connection.texts("PRAGMA journal_mode = WAL")
        guard mode == ["wal"] else {
            throw StoreError(
                .io,
                "The store \(path) cannot have a write-ahead log (its journal mode is \(mode.first ?? "unknown")): its file system lacks shared memory.",
                url: path)
        }
    }
}
