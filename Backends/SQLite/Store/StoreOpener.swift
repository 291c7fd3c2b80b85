import CSQLite
import PolyStoreBackend

/// Opens a store, or makes it; refuses everything else without touching it.
struct StoreOpener {
    let path: String
    let options: SQLiteOptions
    let request: OpenRequest

    private var place: FilePlace { FilePlace(path: path) }

    func open() throws -> SQLiteBackend {
        let tables = try StoreTables(request.schema)
        let deadline = Deadline(milliseconds: options.busyTimeout)
        while true {
            do {
                return try open(tables, mayReset: request.resetsOnModelMismatch && !request.isReadOnly)
            } catch let error as StoreError where error.code == .busy && !deadline.isPast {
                // While the log is made or taken away SQLite does not wait by itself, as it does at other times.
                Deadline.pause(milliseconds: 2)
            }
        }
    }

    private func open(_ tables: StoreTables, mayReset: Bool) throws -> SQLiteBackend {
        try prepareFile()
        let hadLog = place.walSize() > 0
        let connection = try Connection(path: path, tables: tables, isReadOnly: request.isReadOnly, busyTimeout: options.busyTimeout)
        do {
            return try open(connection, tables)
        } catch let error as StoreError {
            // A refused store stays as it is, its log included.
            if hadLog { polystore_sqlite_leave_wal(connection.handle) }
            connection.close()
            guard mayReset, error.code == .migrationRequired else { throw error }
            request.logger.write(.notice, "The store \(path) was written for another model and is deleted, as asked: \(error.message)")
            try place.delete()
            return try open(tables, mayReset: false)
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
        case .directory: throw StoreError(.io, "\(path) is a folder, not a file.", url: path)
        case .other: throw StoreError(.io, "\(path) is no ordinary file.", url: path)
        }
    }

    private func open(_ connection: Connection, _ tables: StoreTables) throws -> SQLiteBackend {
        if !request.isReadOnly && sqlite3_db_readonly(connection.handle, "main") != 0 {
            throw StoreError(.io, "The file may not be written: \(path). Open it for reading only, or change its permissions.", url: path)
        }
        let metadata: StoreMetadata
        switch try Self.contents(connection) {
        case .store:
            metadata = try MetadataTable(connection: connection).read(for: request)
            try metadata.check(request, supportedFormat: StoreTables.format, url: path)
            if !request.isReadOnly { try useLog(connection) }
            try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        case .empty:
            guard !request.isReadOnly else {
                throw StoreError(.notAStore, "The file \(path) is empty; open it for writing to make a store of it.", url: path)
            }
            metadata = try create(connection, tables)
        }
        let pool = ConnectionPool(writer: connection, options: options, isReadOnly: request.isReadOnly, logger: request.logger)
        // SQLite limits a whole row by the same number; a little is left for the other fields.
        let largest = Int(sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, -1))
        return SQLiteBackend(pool: pool, metadata: metadata, largestValue: largest - largest / 100)
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

    /// All tables and the metadata in one transaction: after a crash there is everything or nothing.
    private func create(_ connection: Connection, _ tables: StoreTables) throws -> StoreMetadata {
        try connection.execute("PRAGMA page_size = \(options.pageSize)")
        try useLog(connection)
        try connection.configure(cacheKiB: options.writerCacheKiB, isReader: false)
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Another process may have been faster.
            if case .store = try Self.contents(connection) {
                try connection.execute("ROLLBACK")
                let metadata = try MetadataTable(connection: connection).read(for: request)
                try metadata.check(request, supportedFormat: StoreTables.format, url: path)
                return metadata
            }
            let metadata = StoreMetadata(format: StoreTables.format, request: request)
            for sql in tables.creationSQL { try connection.execute(sql) }
            try connection.execute("PRAGMA application_id = \(StoreTables.applicationID)")
            try MetadataTable(connection: connection).write(metadata)
            try connection.execute("COMMIT")
            return metadata
        } catch {
            connection.rollback()
            throw error
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
