import CSQLite
import PolyStoreBackend

extension Session {
    /// One kept statement, run once a source: each run is a search in an index that yields the targets in order.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        guard isKnown(relationship) else {
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
                if relationship.isOrdered {
                    let position = sqlite3_column_type(handle, 1) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, 1)
                    result.add(source: id, target: sqlite3_column_int64(handle, 0), position: position)
                } else {
                    result.add(source: id, target: sqlite3_column_int64(handle, 0))
                }
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

    /// Whether a relationship is one of the schema, or the way back over the link table of one.
    private func isKnown(_ relationship: Relationship) -> Bool {
        func declares(_ relationship: Relationship) -> Bool {
            guard relationship.source < tables.entities.count else { return false }
            let declared = tables.entities[relationship.source].entity.relationships
            return declared.indices.contains(relationship.ordinal) && declared[relationship.ordinal] == relationship
        }
        if declares(relationship) { return true }
        // Reversed twice it is what was declared, but for what is lost on the way; so compare from the declared side.
        guard relationship.destination < tables.entities.count else { return false }
        return tables.entities[relationship.destination].entity.relationships.contains { $0.reversed == relationship }
    }

    private func statement(for relationship: Relationship, _ source: EntityTable) throws -> Statement {
        // Both ways over a link table have the ordinal of the side that declares them, so those go by table and direction.
        let key =
            if case .link(let table, let isReversed) = relationship.storage {
                -1 - (table << 2 | (isReversed ? 2 : 0) | (relationship.isOrdered ? 1 : 0))
            } else {
                relationship.source << 32 | relationship.ordinal
            }
        if let kept = connection.related[key] { return kept }
        let sql: String
        switch relationship.storage {
        case .foreignKey(let field):
            sql =
                "SELECT \(source.columns[field]) FROM \(source.name) WHERE \(SQLNames.objectID) = ? AND \(source.columns[field]) IS NOT NULL"
        case .inverse(let field):
            let target = tables.entities[relationship.destination]
            let position = relationship.positionField.map { "\(target.columns[$0]), " } ?? ""
            let second = relationship.positionField.map { ", \(target.columns[$0])" } ?? ""
            sql =
                "SELECT \(SQLNames.objectID)\(second) FROM \(target.name) WHERE \(target.columns[field]) = ? ORDER BY \(position)\(SQLNames.objectID)"
        case .link(let table, let isReversed):
            sql = tables.links[table].targetsSQL(reversed: isReversed, ordered: relationship.isOrdered)
        }
        let statement = try connection.prepare(sql)
        connection.related[key] = statement
        return statement
    }
}
