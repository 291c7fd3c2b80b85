import CSQLite
import PolyStoreBackend

extension Session {
    /// One kept statement, run once a source: each run is a search in an index that yields the targets in order.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        guard relationship.source < tables.entities.count,
            tables.entities[relationship.source].entity.relationships.indices.contains(relationship.ordinal),
            tables.entities[relationship.source].entity.relationships[relationship.ordinal] == relationship
        else {
            throw StoreError(.misuse, "The relationship \(relationship.name) is not of the schema that the store was opened with.")
        }
        let source = tables.entities[relationship.source]
        let statement = try statement(for: relationship, source)
        let handle = statement.handle
        var result = RelatedIDs()
        for id in sources {
            sqlite3_bind_int64(handle, 1, id)
            var code = sqlite3_step(handle)
            while code == SQLITE_ROW {
                guard sqlite3_column_type(handle, 0) == SQLITE_INTEGER else {
                    statement.reset()
                    throw StoreError(
                        .corrupt, "\(source.entity.name).\(relationship.name) of object \(id) holds something that is no id.",
                        entity: source.entity.name, attribute: relationship.name, objectID: id)
                }
                result.add(source: id, target: sqlite3_column_int64(handle, 0))
                code = sqlite3_step(handle)
            }
            guard code == SQLITE_DONE else {
                let error = connection.error(code, "Following \(source.entity.name).\(relationship.name)")
                statement.reset()
                throw error
            }
            statement.reset()
        }
        return result
    }

    private func statement(for relationship: Relationship, _ source: EntityTable) throws -> Statement {
        let key = relationship.source << 32 | relationship.ordinal
        if let kept = connection.related[key] { return kept }
        let sql: String
        switch relationship.storage {
        case .foreignKey(let field):
            sql =
                "SELECT \(source.columns[field]) FROM \(source.name) WHERE \(SQLNames.objectID) = ? AND \(source.columns[field]) IS NOT NULL"
        case .inverse(let field):
            let target = tables.entities[relationship.destination]
            sql = "SELECT \(SQLNames.objectID) FROM \(target.name) WHERE \(target.columns[field]) = ? ORDER BY \(SQLNames.objectID)"
        case .link(let table, let isReversed): sql = tables.links[table].targetsSQL(reversed: isReversed)
        }
        let statement = try connection.prepare(sql)
        connection.related[key] = statement
        return statement
    }
}
