import PolyStoreBackend
import PolyStoreQuery

extension PostgreSQLBackend: RebuildsIndexes {
    /// Runs REINDEX on each plain index, or creates it if it is missing, while writers of its entity and fetches that use it wait. Builds full-text indexes in batches, between which others write.
    ///
    /// - Throws: `io` if the user does not own the indexes.
    func rebuildIndexes(_ names: Set<String>?) throws {
        try checkMayWrite()
        try pool.tables.schema.checkIndexNames(names, location: pool.location)
        try rebuildPlainIndexes(names)
        try rebuildSearchIndexes(names)
    }

    private func rebuildPlainIndexes(_ names: Set<String>?) throws {
        let tables = pool.tables
        let wanted = tables.entities.flatMap { table in table.indexes.filter { names?.contains($0.modelName) ?? true }.map { (table, $0) } }
        if wanted.isEmpty { return }
        let (connection, _) = try pool.borrow()
        defer { pool.giveBack(connection) }
        let rows = try connection.rows(
            Statement(
                "SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'i'",
                [.text(tables.plainSchema)]))
        let existing = Set((0..<rows.count).compactMap { rows.text($0, 0) })
        for (table, index) in wanted {
            let isPresent = existing.contains(index.plainName)
            let sql =
                isPresent
                ? "REINDEX INDEX \(table.namespace).\(SQLNames.quoted(index.plainName))" : table.creationSQL(index, schema: table.namespace)
            try connection.run([.once(sql)])
        }
    }

    private func rebuildSearchIndexes(_ names: Set<String>?) throws {
        let hasCleared = try changingIndexes { session, searches in
            let wanted = searches?.indexes.filter { names?.contains($0.name(in: session.tables.schema)) ?? true } ?? []
            if wanted.isEmpty { return false }
            let numbers = wanted.map { "\($0.number)" }.joined(separator: ", ")
            // The first batch of each removes its pages.
            let statement = Statement.once(
                "UPDATE \(session.tables.search) SET \"isComplete\" = false, built = NULL WHERE \"index\" IN (\(numbers))")
            _ = try session.request { try $0.run([statement]) }
            return true
        }
        guard hasCleared else { return }
        try SearchIndexBuilder(pool: pool, logger: logger).run()
        if pool.isClosed { throw pool.closed }
    }
}
