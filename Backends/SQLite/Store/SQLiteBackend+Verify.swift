import PolyStoreBackend

extension SQLiteBackend {
    /// SQLite's own check of every page and index, then what this library keeps beside the data.
    func verify() throws -> [String] {
        let connection = try pool.borrowReader()
        defer { pool.giveBack(reader: connection) }
        do {
            _ = try connection.begin(writing: false)
            defer { connection.rollback() }
            var findings = try connection.texts("PRAGMA integrity_check").filter { $0 != "ok" }
            findings += try missingObjects(connection)
            let stored = try MetadataTable(connection: connection).read()
            if stored.schema.versionHash != stored.schemaHash {
                findings.append("The schema in polystore_metadata does not have its hash.")
            }
            if stored.storeID != metadata.storeID { findings.append("The store's id has changed since it was opened.") }
            if try connection.integer("SELECT count(*) FROM polystore_state") != 1 {
                findings.append("polystore_state has not exactly one row.")
            }
            return findings
        } catch let error as StoreError where error.code == .corrupt {
            return [error.description]
        }
    }

    private func missingObjects(_ connection: Connection) throws -> [String] {
        let there = Set(try connection.texts("SELECT name FROM sqlite_master"))
        var findings: [String] = []
        for table in pool.tables.entities {
            if !there.contains(table.entity.name) { findings.append("The table \(table.entity.name) is missing.") }
            for index in table.indexes where !there.contains(index.plainName) {
                findings.append("The index \(index.plainName) is missing.")
            }
        }
        for link in pool.tables.links where !there.contains(link.plainName) { findings.append("The table \(link.plainName) is missing.") }
        return findings
    }
}
