import CSQLite
import PolyStoreBackend

/// `polystore_log`: the change log of a store. The first entry creates the table; a store without the table has an empty log.
///
/// `AUTOINCREMENT` prevents SQLite from reusing a position after the last entry was removed.
struct LogTable {
    let connection: Connection

    /// Returns whether the table exists in the version that the connection reads. Not cached, because another process can create the table and a rollback can
    /// remove it.
    private func exists() throws -> Bool {
        let statement = try connection.kept("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'polystore_log'")
        defer { statement.reset() }
        return try row(statement)
    }

    /// Creates the table, if it does not exist.
    func createIfAbsent() throws { if try !exists() { try create() } }

    private func create() throws {
        try connection.execute(
            "CREATE TABLE polystore_log (position INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, entry BLOB NOT NULL)")
    }

    func entries(after position: Int64, limit: Int) throws -> [LogEntry] {
        guard limit > 0, try exists() else { return [] }
        let statement = try connection.kept(
            "SELECT position, version, entry FROM polystore_log WHERE position > ? ORDER BY position LIMIT ?")
        defer { statement.reset() }
        sqlite3_bind_int64(statement.handle, 1, position)
        sqlite3_bind_int64(statement.handle, 2, Int64(limit))
        var entries: [LogEntry] = []
        while try row(statement) {
            let position = sqlite3_column_int64(statement.handle, 0)
            guard position > 0, sqlite3_column_type(statement.handle, 1) == SQLITE_INTEGER,
                sqlite3_column_type(statement.handle, 2) == SQLITE_BLOB
            else {
                throw StoreError(
                    .corrupt, "Entry \(position) of polystore_log in \(connection.path) cannot be read.", location: connection.path)
            }
            let version = UInt64(bitPattern: sqlite3_column_int64(statement.handle, 1))
            entries.append(LogEntry(position: position, version: version, bytes: [UInt8](statement.bytes(2))))
        }
        return entries
    }

    func bounds() throws -> LogBounds {
        guard try exists() else { return LogBounds() }
        let last = try number("SELECT seq FROM sqlite_sequence WHERE name = 'polystore_log'") ?? 0
        guard let first = try number("SELECT min(position) FROM polystore_log") else { return LogBounds(removedThrough: last, last: last) }
        guard first > 0, first <= last else {
            throw StoreError(
                .corrupt, "The positions in polystore_log of \(connection.path) do not agree with sqlite_sequence.",
                location: connection.path)
        }
        return LogBounds(removedThrough: first - 1, last: last)
    }

    /// Removes and appends the log entries of a change set.
    /// - Parameter version: The version of the pending commit.
    func write(_ changes: ChangeSet, version: UInt64) throws {
        guard changes.changesLog else { return }
        if try !exists() {
            guard !changes.logEntries.isEmpty else { return }
            try create()
        }
        if let position = changes.logRemoval {
            let statement = try connection.kept("DELETE FROM polystore_log WHERE position <= ?")
            sqlite3_bind_int64(statement.handle, 1, position)
            try connection.run(statement, "Removing entries of the change log")
        }
        for entry in changes.logEntries {
            let statement = try connection.kept("INSERT INTO polystore_log (version, entry) VALUES (?, ?)")
            sqlite3_bind_int64(statement.handle, 1, Int64(bitPattern: version))
            let code = statement.bind(2, .blob(entry))
            guard code == SQLITE_OK else { throw connection.error(code, "Appending to the change log") }
            try connection.run(statement, "Appending to the change log")
        }
    }

    /// Returns a sentence for each entry that cannot be read.
    func findings() throws -> [String] {
        guard try exists() else { return [] }
        let wrong = try connection.texts(
            "SELECT position FROM polystore_log WHERE position < 1 OR typeof(version) <> 'integer' OR typeof(entry) <> 'blob' LIMIT 1000")
        if !wrong.isEmpty { return wrong.map { "Entry \($0) of polystore_log cannot be read." } }
        _ = try bounds()
        return []
    }

    /// - Returns: `nil` for null and for a missing row.
    private func number(_ sql: String) throws -> Int64? {
        let statement = try connection.kept(sql)
        defer { statement.reset() }
        guard try row(statement), sqlite3_column_type(statement.handle, 0) == SQLITE_INTEGER else { return nil }
        return sqlite3_column_int64(statement.handle, 0)
    }

    /// Steps to the next row.
    private func row(_ statement: Statement) throws -> Bool {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, "Reading the change log") }
        return code == SQLITE_ROW
    }
}

extension Session {
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try check()
        return try LogTable(connection: connection).entries(after: position, limit: limit)
    }

    func logBounds() throws -> LogBounds {
        try check()
        return try LogTable(connection: connection).bounds()
    }
}
