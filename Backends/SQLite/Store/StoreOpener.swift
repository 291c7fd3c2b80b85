import CSQLite
import PolyStoreBackend

/// Opens or creates a store. Leaves every other file unmodified.
struct StoreOpener {
    let path: String
    let options: SQLiteOptions
    let request: OpenRequest

    private var storePath: StorePath { StorePath(path: path) }

    func open() throws -> SQLiteBackend {
        try checkOptions()
        try checkLength()
        let tables = try StoreTables(request.schema)
        let deadline = Deadline(after: options.busyTimeout)
        while true {
            do {
                return try open(tables)
            } catch let error as StoreError where error.code == .busy && !deadline.isPast {
                // SQLite ignores the busy timeout while the log is created or removed.
                Deadline.pause(milliseconds: 2)
            }
        }
    }

    private var mayReset: Bool { request.resetsOnModelMismatch && !request.isReadOnly }

    /// Checks the options that SQLite does not check itself.
    private func checkOptions() throws {
        guard options.maximumIdleReaders < 0 else { return }
        throw StoreError(
            .misuse,
            "Cannot open \(path): the option maximumIdleReaders is \(options.maximumIdleReaders), and a number of connections cannot be negative. "
                + "Set it to 0 or more.", location: path)
    }

    /// Checks the length of the path, because SQLite's own error does not name the cause.
    private func checkLength() throws {
        // The limit includes the suffix "-journal".
        let longest = (sqlite3_vfs_find(nil).map { Int($0.pointee.mxPathname) } ?? 512) - 8
        guard path.utf8.count <= longest else {
            throw StoreError(
                .io,
                "The path has \(path.utf8.count) bytes, and SQLite takes paths of up to \(longest): \(path). Move the store to a folder with a shorter "
                    + "path; a symbolic link does not help, as it is followed first.", location: path)
        }
    }

    private func open(_ tables: StoreTables) throws -> SQLiteBackend {
        try prepareFile()
        let file = try OpenFile.open(path, isReadOnly: request.isReadOnly, readsHardLinkedFiles: options.readsHardLinkedFiles)
        // The process may have the file open under another of its names.
        return try StoreOpener(path: file.path, options: options, request: request).open(tables, file)
    }

    private func open(_ tables: StoreTables, _ file: OpenFile) throws -> SQLiteBackend {
        if file.isUnlocked { return try open(tables, file, .readingUnchangedFile) }
        do {
            return try open(tables, file, request.isReadOnly ? .reading : .writing)
        } catch let error as StoreError
            where request.isReadOnly && [SQLITE_CANTOPEN, SQLITE_READONLY].contains(Int32(error.engineCode & 0xff))
            && !storePath.folderTakesFiles
        {
            guard storePath.walSize() == 0 else {
                throw StoreError(
                    .io,
                    "The store \(path) was not closed by the last that wrote to it: its newest commits are in the log beside it, and to read that one "
                        + "SQLite must make a file in the folder, which takes none. Make the folder writable, or open the store for writing once.",
                    location: path, engineCode: error.engineCode, underlying: error.underlying)
            }
            return try open(tables, OpenFile(unlocked: path), .readingUnchangedFile)
        }
    }

    private func open(_ tables: StoreTables, _ file: OpenFile, _ access: Connection.Access) throws -> SQLiteBackend {
        let hadLog = storePath.walSize() > 0
        let connection = try Connection(file: file, tables: tables, access: access, busyTimeout: options.busyTimeout)
        let backend: SQLiteBackend
        do { backend = try open(file, connection, tables, access, hadLog: hadLog) } catch {
            // A rejected store stays unmodified, including its log.
            if hadLog { polystore_sqlite_leave_wal(connection.handle) }
            connection.close()
            throw error
        }
        do { try backend.pool.adoptIndexes() } catch {
            backend.pool.close()
            throw error
        }
        if !request.isReadOnly { storePath.removeLeftovers(logger: request.logger) }
        return backend
    }

    /// Ensures that the file exists with the right permissions.
    private func prepareFile() throws {
        switch try storePath.kind() {
        case .file: break
        case .absent:
            guard !request.isReadOnly else {
                throw StoreError(.io, "The file \(path) does not exist, and opening a store read-only does not create it.", location: path)
            }
            try storePath.create(mode: options.fileMode)
        case .directory: throw StoreError(.notAStore, "\(path) is a folder, and a file was expected. It was left as it is.", location: path)
        case .other: throw StoreError(.io, "\(path) is not a regular file.", location: path)
        }
    }

    private func open(_ file: OpenFile, _ connection: Connection, _ tables: StoreTables, _ access: Connection.Access, hadLog: Bool) throws
        -> SQLiteBackend
    {
        if !request.isReadOnly && sqlite3_db_readonly(connection.handle, "main") != 0 {
            throw StoreError(
                .io, "The file may not be written: \(path). Open it for reading only, or change its permissions.", location: path)
        }
        var metadata: StoreMetadata
        var isMade = false
        if let found = try read(connection, hadLog: hadLog) {
            metadata = found
            if !hadLog { try checkPages(connection) }
            if !request.isReadOnly { try useLog(connection) }
            try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        } else {
            guard !request.isReadOnly else {
                throw StoreError(.notAStore, "The file \(path) is empty; open it for writing to make a store of it.", location: path)
            }
            metadata = try create(connection, tables)
            isMade = true
        }
        let pool = try ConnectionPool(
            file: file, writer: connection,
            identity: SQLiteStoreIdentity(storeID: metadata.storeID, schemaHash: metadata.schemaHash, schema: request.schema.description),
            options: options, access: access,
            isLogFlushed: !hadLog && (isMade || storePath.walSize() == 0), logger: request.logger)
        // The stored schema may have had other indexes.
        metadata.schema = request.schema.description
        metadata.schemaHash = request.schema.versionHash
        // SQLite applies the same limit to a whole row; the margin is for the other fields.
        let largest = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1))
        return SQLiteBackend(pool: pool, metadata: metadata, largestValue: largest - largest / 100)
    }

    /// Checks that the file size is a multiple of the page size. SQLite reads a missing part of the last page as zeros. With a log, an interrupted checkpoint
    /// can leave such a page; without one, the file was truncated.
    /// - Throws: `corrupt`.
    private func checkPages(_ connection: Connection) throws {
        let bytes = try storePath.stamp().bytes
        guard let pageSize = try connection.integer("PRAGMA page_size"), pageSize > 0, bytes % Int(pageSize) != 0 else { return }
        throw StoreError(
            .corrupt,
            "The store \(path) has \(bytes) bytes, which is not a multiple of its page size of \(pageSize): its end is missing. Restore it from a copy.",
            location: path)
    }

    /// Reads the metadata in one transaction.
    /// - Returns: `nil` for an empty file, for one that an interrupted creation left, and for a store that must be reset.
    private func read(_ connection: Connection, hadLog: Bool) throws -> StoreMetadata? {
        do { return try read(connection) } catch let error as StoreError
            where error.engineCode & 0xff == Int(SQLITE_NOTADB) && !request.isReadOnly && !hadLog
        {
            // A store whose first page was ever flushed has more than zeros, so nothing acknowledged is in this file.
            // If the file has other contents, another process may have created the store in it meanwhile.
            guard try connection.emptyFileOfZeros() else { return try read(connection) }
            request.logger.write(
                .notice, "The file \(path) holds zeros alone, as a power cut during its creation leaves it. The store is created in it.")
            return nil
        }
    }

    private func read(_ connection: Connection) throws -> StoreMetadata? {
        try connection.execute("BEGIN")
        defer { connection.rollback() }
        do { return try metadata(connection) } catch let error as StoreError where error.code == .migrationRequired && mayReset {
            return nil
        }
    }

    /// Reads the metadata in the open transaction.
    /// - Returns: `nil` for an empty file.
    /// - Throws: `notAStore`, `corrupt`, and the errors of ``StoreMetadata/check(_:supportedFormat:location:)``.
    private func metadata(_ connection: Connection) throws -> StoreMetadata? {
        guard case .store = try Self.contents(connection) else { return nil }
        let metadata = try MetadataTable(connection: connection).read(for: request)
        try metadata.check(request, supportedFormat: StoreTables.format, location: path, acceptsOtherIndexes: true)
        let tables = connection.tables
        if tables.schema.links.contains(where: { $0.sharedName != nil }) {
            let existing = Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
            for link in tables.schema.links {
                if let shared = link.sharedName, existing.contains(shared), !existing.contains(tables.links[link.index].plainName) {
                    throw link.mixedTablesError(path: path)
                }
            }
        }
        return metadata
    }

    private enum Contents { case empty, store }

    /// Determines whether the file is empty or a store, without modifying it.
    /// - Throws: `notAStore`.
    private static func contents(_ connection: Connection) throws -> Contents {
        do {
            // A single statement, because another process may create the store between two statements.
            let found = try connection.integer(
                """
                SELECT CASE WHEN count(*) = 0 THEN 0 WHEN sum(name = 'polystore_metadata' AND type = 'table') = 1 THEN 1 ELSE 2 END
                FROM sqlite_master
                """)
            guard found != 2 else { throw foreign(connection, "it is a SQLite database of another program") }
            if try connection.texts("PRAGMA encoding") != ["UTF-8"] { throw foreign(connection, "its text is not UTF-8") }
            return found == 1 ? .store : .empty
        } catch let error as StoreError where error.engineCode & 0xff == Int(SQLITE_NOTADB) {
            throw foreign(connection, "it is not a SQLite database, or an encrypted one", error)
        }
    }

    private static func foreign(_ connection: Connection, _ why: String, _ error: StoreError? = nil) -> StoreError {
        StoreError(
            .notAStore, "The file \(connection.path) is not a store: \(why). It was left as it is.", location: connection.path,
            engineCode: error?.engineCode ?? 0, underlying: error?.underlying)
    }

    /// Creates all tables and the metadata, and removes the previous contents, in one transaction. After a crash the file has either the old or the new
    /// contents.
    private func create(_ connection: Connection, _ tables: StoreTables) throws -> StoreMetadata {
        try connection.execute("PRAGMA page_size = \(options.pageSize)")
        try useLog(connection)
        try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        try connection.execute("BEGIN IMMEDIATE")
        var isEmptied = false
        do {
            // Checked again with the write lock held: another process may have created the store, or reset it and filled it.
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
            let metadata = StoreMetadata(format: StoreTables.format(tables.schema), request: request)
            for sql in tables.creationSQL { try connection.execute(sql) }
            try SearchTables(connection: connection).replace(with: tables.schema, state: .complete)
            try connection.execute("PRAGMA application_id = \(StoreTables.applicationID)")
            try MetadataTable(connection: connection).write(metadata)
            try connection.execute("COMMIT")
            if isEmptied { try shrink(connection) }
            return metadata
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// Drops everything in the open transaction. Keeps the file, because other processes that have it open would continue to write to a deleted file.
    private func clear(_ connection: Connection) throws {
        // Virtual tables first: dropping one also drops its shadow tables.
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

    /// Shrinks the file of a store that was reset, unless another connection prevents it.
    private func shrink(_ connection: Connection) throws {
        do { try connection.execute("VACUUM") } catch let error as StoreError where [.busy, .full].contains(error.code) {
            // Later writes reuse the free pages.
        }
    }

    /// Enables the write-ahead log, so that readers and the writer do not block each other.
    private func useLog(_ connection: Connection) throws {
        let mode = try connection.texts("PRAGMA journal_mode = WAL")
        guard mode == ["wal"] else {
            throw StoreError(
                .io,
                "The store \(path) cannot have a write-ahead log (its journal mode is \(mode.first ?? "unknown")): its file system lacks shared memory.",
                location: path)
        }
    }
}
