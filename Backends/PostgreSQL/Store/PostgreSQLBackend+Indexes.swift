import PolyStoreBackend
import PolyStoreQuery

extension PostgreSQLBackend: RebuildsIndexes {
    /// Runs REINDEX on each plain index, or creates it if it is missing, in a transaction with the lock of the writers. Fetches of the entity wait meanwhile. Builds full-text indexes one
    /// after another in batches, between which others write.
    ///
    /// - Throws: `busy` with the sessions that have locked the table of an index for longer than `lockTimeout`; `io` if the user does not own the indexes.
    func rebuildIndexes(_ names: Set<String>?) throws {
        try checkMayWrite()
        let schema = pool.tables.schema
        let search = try changingIndexes { $1?.indexes ?? [] }
        let plain = schema.entities.indices.flatMap { entity in
            pool.tables.entities[entity].indexes.indices.map { (entity: entity, index: $0) }
        }
        let plainNames = plain.map { pool.tables.entities[$0.entity].indexes[$0.index].modelName }
        try schema.checkIndexNames(names, present: Set(plainNames + search.map { $0.name(in: schema) }), location: pool.location)
        for ((entity, index), name) in zip(plain, plainNames) where names?.contains(name) ?? true {
            try changingIndexes { session, _ in try rebuild(session.tables.entities[entity], index, session) }
        }
        for index in search where names?.contains(index.name(in: schema)) ?? true { try rebuild(index) }
    }

    /// Builds a plain index again in the transaction of a session.
    private func rebuild(_ table: EntityTable, _ position: Int, _ session: Session) throws {
        let index = table.indexes[position]
        let name = SQLNames.quoted(index.plainName)
        let found = Statement(
            "SELECT c.oid IS NOT NULL, (SELECT \"schemaHash\" FROM \(session.tables.own("metadata"))) FROM (SELECT pg_catalog.to_regclass($1) AS oid) AS c",
            [.text("\(table.namespace).\(name)")])
        let rows = try session.request { try $0.run([pool.database.waitingForTables, found]).last }
        let sql: String
        if rows?.bool(0, 0) ?? false {
            sql = "REINDEX INDEX \(table.namespace).\(name)"
        } else {
            // The model of another process has removed it.
            guard rows?.text(0, 1) == session.tables.schema.versionHash else { return }
            sql = table.creationSQL(index, schema: table.namespace)
        }
        _ = try session.request { try $0.run([.once(sql)]) }
    }

    /// Makes a full-text index incomplete, and builds it. The first batch removes its pages.
    private func rebuild(_ index: StoredSearchIndex) throws {
        let isPresent = try changingIndexes { session, searches in
            guard searches?.indexes.contains(index) ?? false else { return false }
            let statement = Statement(
                "UPDATE \(session.tables.search) SET \"isComplete\" = false, built = NULL WHERE \"index\" = $1",
                [.small(Int32(index.number))])
            _ = try session.request { try $0.run([statement]) }
            return true
        }
        guard isPresent else { return }
        try SearchIndexBuilder(pool: pool, logger: logger).runPatiently()
        if pool.isClosed { throw pool.closed }
    }
}
