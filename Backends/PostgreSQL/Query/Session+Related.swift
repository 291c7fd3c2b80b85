import PolyStoreBackend

extension Session {
    /// Returns the related ids of all sources with one statement.
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try check()
        guard isKnown(relationship) else {
            throw StoreError(.misuse, "The relationship \(relationship.name) is not of the schema that the store was opened with.")
        }
        var result = RelatedIDs()
        if sources.isEmpty { return result }
        let source = tables.entities[relationship.source]
        let stream = try stream(Statement(sql(relationship, source), [.integers(sources)]))
        while let row = try ending({ try stream.next() }) {
            guard let id = row.integer(0, 0), let target = row.integer(0, 1) else {
                throw StoreError(
                    .corrupt, "\(source.entity.name).\(relationship.name) holds something that is not a row id.",
                    entity: source.entity.name,
                    attribute: relationship.name)
            }
            if relationship.isOrdered {
                result.add(source: id, target: target, position: row.integer(0, 2))
            } else {
                result.add(source: id, target: target)
            }
        }
        return result
    }

    /// Returns whether a relationship is declared by the schema, or reverses a declared relationship with a link table.
    private func isKnown(_ relationship: Relationship) -> Bool {
        guard relationship.source < tables.entities.count, relationship.destination < tables.entities.count else { return false }
        let declared = tables.entities[relationship.source].entity.relationships
        if declared.indices.contains(relationship.index), declared[relationship.index] == relationship { return true }
        // Compared from the declared side, because reversing a relationship twice does not restore all of its properties.
        return tables.entities[relationship.destination].entity.relationships.contains { $0.reversed == relationship }
    }

    /// Returns a statement with the columns source, target and, for an ordered relationship, position.
    private func sql(_ relationship: Relationship, _ source: EntityTable) -> String {
        switch relationship.storage {
        case .foreignKey(let field):
            let column = source.columns[field]
            return
                "SELECT \(SQLNames.objectID), \(column) FROM \(source.name) WHERE \(SQLNames.objectID) = ANY($1) AND \(column) IS NOT NULL"
        case .inverse(let field):
            let target = tables.entities[relationship.destination]
            let column = target.columns[field]
            let position = relationship.positionField.map { target.columns[$0] }
            return
                "SELECT \(column), \(SQLNames.objectID)\(position.map { ", " + $0 } ?? "") FROM \(target.name) WHERE \(column) = ANY($1) "
                + "ORDER BY \(column), \(position.map { $0 + " NULLS FIRST, " } ?? "")\(SQLNames.objectID)"
        case .link(let table, let isReversed):
            let (here, there) = isReversed ? ("target", "source") : ("source", "target")
            let position = relationship.isOrdered ? SQLNames.quoted(there + "Position") : nil
            return "SELECT \(here), \(there)\(position.map { ", " + $0 } ?? "") FROM \(tables.links[table].name) WHERE \(here) = ANY($1) "
                + "ORDER BY \(here), \(position.map { $0 + ", " } ?? "")\(there)"
        }
    }
}
