import CSQLite
import PolyStoreBackend

extension Session {
    func nextRowID(_ entity: Entity) throws -> Int64 {
        try check()
        return try IDSequence(connection: connection, table: tables.table(entity)).peek() ?? 1
    }
}

extension SQLiteReadTransaction: RowIDSequences {
    func nextRowID(_ entity: Entity) throws -> Int64 { try session.nextRowID(entity) }
}

extension SQLiteWriteTransaction: RestoringTransaction {
    func nextRowID(_ entity: Entity) throws -> Int64 {
        try check()
        return try session.nextRowID(entity)
    }

    func restoreLog(_ entries: [LogEntry]) throws {
        try check()
        try connection.uninterrupted { try LogTable(connection: connection).restore(entries) }
    }

    func restoreLogRemoval(through position: Int64) throws {
        try check()
        try connection.uninterrupted { try LogTable(connection: connection).restoreRemoval(through: position) }
    }

    func completeRestoration(version: UInt64, configurationName: String?) throws {
        try check()
        try connection.uninterrupted { try MetadataTable(connection: connection).replaceConfiguration(configurationName) }
        restoredVersion = version
    }
}

extension LogTable {
    /// Appends entries with their own positions and versions.
    func restore(_ entries: [LogEntry]) throws {
        guard !entries.isEmpty else { return }
        try createIfAbsent()
        let statement = try connection.kept("INSERT INTO polystore_log (position, version, entry) VALUES (?, ?, ?)")
        for entry in entries {
            sqlite3_bind_int64(statement.handle, 1, entry.position)
            sqlite3_bind_int64(statement.handle, 2, Int64(bitPattern: entry.version))
            let code = statement.bind(3, .blob(entry.bytes))
            guard code == SQLITE_OK else { throw connection.error(code, "Appending to the change log") }
            try connection.run(statement, "Appending to the change log")
        }
    }

    /// Sets the last position of a log without entries.
    func restoreRemoval(through position: Int64) throws {
        try createIfAbsent()
        // The table of SQLite has no key that a conflict could be found by.
        try connection.execute("DELETE FROM sqlite_sequence WHERE name = 'polystore_log'")
        try connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('polystore_log', \(position))")
    }
}
