import PolyStoreBackend
import PolyStoreQuery

extension ConnectionPool {
    /// Replaces the plain indexes of the store with those of the schema that it was opened for: drops obsolete ones immediately and starts to create missing
    /// ones on another thread. Has no effect on a read-only store.
    func adoptIndexes() throws {
        guard !isReadOnly else { return }
        if try schemaHash != tables.schema.versionHash || hasOtherSearchNames() { try replaceSchema(tables.schema) }
        try createMissingIndexes()
    }

    /// Returns whether the stored schema has other names or weights of full-text indexes.
    private func hasOtherSearchNames() throws -> Bool {
        try tables.schema.hasOtherSearchNames {
            let connection = try borrowWriter()
            defer { giveBackWriter() }
            _ = try connection.begin(writing: false)
            defer { connection.rollback() }
            return try MetadataTable(connection: connection).read().schema
        }
    }

    /// Replaces the stored schema with one of the same data, which has other plain indexes, original names, defaults, delete rules or rules of attributes, and drops
    /// the indexes that the new schema lacks.
    private func replaceSchema(_ schema: ResolvedSchema) throws {
        let connection = try borrowWriter()
        defer { giveBackWriter() }
        do {
            // Checks that the store still has the same data.
            _ = try connection.begin(writing: true)
            try didBeginWriting()
            let stored = try MetadataTable(connection: connection).read()
            if stored.schemaHash != schema.versionHash || schema.hasOtherSearchNames(than: { stored.schema }) {
                try replaceIndexes(of: try StoreTables(try ResolvedSchema(stored.schema)), connection)
                try SearchTables(connection: connection).replace(with: schema, state: .building(through: nil))
                try MetadataTable(connection: connection).write(schema)
            }
            try checkFiles()
            try connection.commit()
        } catch {
            recordFailure(error)
            connection.rollback()
            throw error
        }
        adopt(schemaHash: schema.versionHash, connection)
    }

    private func replaceIndexes(of stored: StoreTables, _ connection: Connection) throws {
        // The statement contains everything that defines an index: name, table, columns and uniqueness. Two indexes can exchange names.
        let before = Set(stored.entities.flatMap(\.indexSQL))
        let after = Set(tables.entities.flatMap(\.indexSQL))
        for table in stored.entities {
            for (index, sql) in zip(table.indexes, table.indexSQL) where !after.contains(sql) {
                try connection.execute("DROP INDEX IF EXISTS \(index.name)")
            }
        }
        // A release that did not know fields of JSON may have replaced the stored schema without dropping the indexes on them.
        let wanted = after.map(SQLNames.literal).joined(separator: ", ")
        let unknown = try connection.texts(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND instr(sql, '\(JSONFieldFunction.indexedName)(') > 0 "
                + "AND sql NOT IN (\(wanted))")
        for name in unknown { try connection.execute("DROP INDEX \(SQLNames.quoted(name))") }
        for table in tables.entities {
            for (index, sql) in zip(table.indexes, table.indexSQL) where index.isUnique && !before.contains(sql) {
                try connection.execute(sql)
            }
        }
    }

    private func createMissingIndexes() throws {
        guard tables.entities.contains(where: { $0.indexes.contains { !$0.isUnique } || !$0.entity.searchIndexes.isEmpty }) else { return }
        let connection = try borrowWriter()
        defer { giveBackWriter() }
        let present = Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'index'"))
        var missing: [SQLiteIndexBuilder.MissingIndex] = []
        for table in tables.entities {
            for (index, sql) in zip(table.indexes, table.indexSQL) where !index.isUnique && !present.contains(index.plainName) {
                missing.append(SQLiteIndexBuilder.MissingIndex(name: index.plainName, entity: table.entity.name, sql: sql))
            }
        }
        let hasSearchIndexes = try SearchIndexBatch(connection: connection).unfinished() != nil
        guard !missing.isEmpty || hasSearchIndexes else { return }
        try flushLog(connection)
        try startIndexing(missing)
    }
}
