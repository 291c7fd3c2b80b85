import CSQLite
import PolyStoreBackend

extension Session {
    /// Returns the related ids of each source. Runs a cached statement per source; each run is an index search that yields the targets in order.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        guard isKnown(relationship) else {
            throw StoreError(.misuse, "The relationship \(relationship.name) is not of the schema that the store was opened with.")
        }
        // A property can need the list of one object.
        guard sources.count > 1 else { return try connection.uninterrupted { try targets(relationship, of: sources) } }
        try interruption?.check()
        return try targets(relationship, of: sources)
    }

    private func targets(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
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
                        .corrupt, "\(source.entity.name).\(relationship.name) of object \(id) holds something that is not a row id.",
                        entity: source.entity.name, attribute: relationship.name, rowID: id)
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
                let error = connection.error(code, "Reading \(source.entity.name).\(relationship.name)")
                statement.reset()
                throw error
            }
            statement.reset()
        }
        return result
    }

    /// Returns whether a relationship is declared by the schema, or reverses a declared relationship with a link table.
    private func isKnown(_ relationship: Relationship) -> Bool {
        func declares(_ relationship: Relationship) -> Bool {
            guard relationship.source < tables.entities.count else { return false }
            let declared = tables.entities[relationship.source].entity.relationships
            return declared.indices.contains(relationship.index) && declared[relationship.index] == relationship
        }
        if declares(relationship) { return true }
        // Compared from the declared side, because reversing a relationship twice does not restore all of its properties.
        guard relationship.destination < tables.entities.count else { return false }
        return tables.entities[relationship.destination].entity.relationships.contains { $0.reversed == relationship }
    }

    private func statement(for relationship: Relationship, _ source: EntityTable) throws -> Statement {
        // Both directions of a link table have the index of the declaring side, so the key consists of the table and the direction.
        let key =
            if case .link(let table, let isReversed) = relationship.storage {
                -1 - (table << 2 | (isReversed ? 2 : 0) | (relationship.isOrdered ? 1 : 0))
            } else {
                relationship.source << 32 | relationship.index
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
