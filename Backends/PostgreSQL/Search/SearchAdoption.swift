import PolyStoreBackend

/// The replacement of a store's full-text indexes by those of a model, in the transaction that replaces the stored schema.
struct SearchAdoption {
    let statements: [Statement]
    /// The generation and the format of the store after it.
    let generation: Int64
    let format: Int

    /// - Parameters:
    ///   - tables: The tables of the model.
    ///   - found: What the store contains, read under the lock of the writers.
    init(_ tables: StoreTables, _ found: MetadataTable.Contents, _ connection: Connection) throws {
        let hasTables = found.metadata.format >= StoreTables.searchFormat
        let stored =
            try hasTables ? SearchDefinition.read(connection.rows(SearchDefinition.reading(tables)), location: connection.location) : []
        let wanted = tables.searchDefinitions
        let removed = stored.filter { old in !wanted.contains { $0.isSame(as: old) } }
        var added = wanted.filter { new in !stored.contains { $0.isSame(as: new) } }
        guard !removed.isEmpty || !added.isEmpty else {
            (statements, generation, format) = ([], found.generation, found.metadata.format)
            return
        }
        var sql: [String] = []
        if wanted.isEmpty {
            // Without a snapshot, so that none reads tables that disappear.
            sql.append("LOCK TABLE \(tables.own("state")), \(tables.own("metadata")) IN ACCESS EXCLUSIVE MODE")
            sql += [tables.searchPages, tables.search].map { "DROP TABLE \($0)" }
        } else {
            if !hasTables { sql += try tables.searchCreation + tables.searchRights(connection) }
            let last = stored.map(\.number).max() ?? 0
            for position in added.indices { added[position].number = last + Int32(position + 1) }
            for old in removed {
                sql.append("DELETE FROM \(tables.searchPages) WHERE \"index\" = \(old.number)")
                sql.append("DELETE FROM \(tables.search) WHERE \"index\" = \(old.number)")
            }
            sql += added.map { $0.insertion(isComplete: false, tables) }
        }
        sql.append("UPDATE \(tables.own("metadata")) SET generation = generation + \(StoreTables.searchGeneration)")
        statements = sql.map { .once($0) }
        (generation, format) = (found.generation + StoreTables.searchGeneration, tables.storeFormat)
    }
}

extension StoreTables {
    /// Returns the statements that give the tables of the full-text indexes the owner of the store, and give others the rights that they have on the named values, which every user of the
    /// store needs.
    func searchRights(_ connection: Connection) throws -> [String] {
        let model = "polystore_values"
        return try StoreOwner.read(plainSchema, connection)?
            .statements([(search, model), (searchPages, model)], in: plainSchema, connection) ?? []
    }
}
