import CSQLite
import PolyStoreBackend

/// `polystore_values`: the named values of a store. The first value creates the table; a store without the table has no values.
struct NamedValueTable {
    let connection: Connection

    /// Returns whether the table exists in the version that the connection reads. Not cached, because another process can create the table and a rollback can
    /// remove it.
    private func exists() throws -> Bool {
        let statement = try connection.kept("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'polystore_values'")
        defer { statement.reset() }
        return try row(statement)
    }

    /// - Returns: the bytes; `nil` if no value has the name.
    func value(named name: String) throws -> [UInt8]? {
        guard try exists() else { return nil }
        let statement = try connection.kept("SELECT value FROM polystore_values WHERE name = ?")
        defer { statement.reset() }
        try bind(statement, 1, .text(name))
        guard try row(statement) else { return nil }
        guard sqlite3_column_type(statement.handle, 0) == SQLITE_BLOB else { throw corrupt("The value \"\(name)\" is not a blob") }
        return [UInt8](statement.bytes(0))
    }

    /// - Returns: the names that begin with the bytes of a prefix, in ascending order of their bytes.
    func names(prefix: String) throws -> [String] {
        guard try exists() else { return [] }
        let statement = try connection.kept("SELECT name FROM polystore_values WHERE name >= ? ORDER BY name")
        defer { statement.reset() }
        try bind(statement, 1, .text(prefix))
        var names: [String] = []
        while try row(statement) {
            let bytes = statement.bytes(0)
            guard sqlite3_column_type(statement.handle, 0) == SQLITE_TEXT, let name = String(validating: bytes, as: UTF8.self) else {
                throw corrupt("The name of a value is not text in UTF-8")
            }
            guard name.utf8.starts(with: prefix.utf8) else { break }
            names.append(name)
        }
        return names
    }

    func write(_ changes: [ChangeSet.ValueChange]) throws {
        guard !changes.isEmpty else { return }
        if try !exists() {
            // The changes are removals only, and there is nothing to remove.
            guard changes.contains(where: { $0.bytes != nil }) else { return }
            try connection.execute("CREATE TABLE polystore_values (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
        }
        for change in changes {
            let statement: Statement
            if let bytes = change.bytes {
                statement = try connection.kept(
                    "INSERT INTO polystore_values (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
                try bind(statement, 2, .blob(bytes))
            } else {
                statement = try connection.kept("DELETE FROM polystore_values WHERE name = ?")
            }
            try bind(statement, 1, .text(change.name))
            try connection.run(statement, "Writing the value \(change.name)")
        }
    }

    /// Returns a sentence for each value whose name or bytes cannot be read.
    func findings() throws -> [String] {
        guard try exists() else { return [] }
        let wrong = try connection.texts(
            """
            SELECT quote(name) FROM polystore_values WHERE typeof(name) <> 'text' OR typeof(value) <> 'blob'
            OR length(CAST(name AS BLOB)) NOT BETWEEN 1 AND \(NamedValue.longestName) OR length(value) > \(NamedValue.longestValue) LIMIT 1000
            """)
        if !wrong.isEmpty { return wrong.map { "The value \($0) in polystore_values cannot be read." } }
        _ = try names(prefix: "")
        return []
    }

    private func bind(_ statement: Statement, _ index: Int32, _ value: Binding) throws {
        let code = statement.bind(index, value)
        guard code == SQLITE_OK else { throw connection.error(code, "Using the named values") }
    }

    /// Steps to the next row.
    private func row(_ statement: Statement) throws -> Bool {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, "Reading the named values") }
        return code == SQLITE_ROW
    }

    private func corrupt(_ what: String) -> StoreError {
        StoreError(.corrupt, "\(what) in polystore_values of \(connection.path).", location: connection.path)
    }
}

extension Session {
    func value(named name: String) throws -> [UInt8]? {
        try check()
        try NamedValue.check(name: name)
        return try NamedValueTable(connection: connection).value(named: name)
    }

    func valueNames(prefix: String) throws -> [String] {
        try check()
        return try NamedValueTable(connection: connection).names(prefix: prefix)
    }
}
