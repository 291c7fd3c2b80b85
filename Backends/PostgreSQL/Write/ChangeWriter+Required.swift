import PolyStoreBackend

extension ChangeWriter {
    /// Returns the statements that fail with ``wrongCount`` if a required object does not exist. They follow the writes.
    func requiringStatements() throws -> [Statement] {
        if sets.allSatisfy(\.requiredObjects.isEmpty) { return [] }
        let required = Dictionary(grouping: sets.lazy.flatMap(\.requiredObjects), by: \.entity)
        return try required.sorted { $0.key < $1.key }.flatMap { entity, objects in
            let table = try table(entity)
            let ids = Set(objects.lazy.map(\.rowID)).sorted()
            return stride(from: 0, to: ids.count, by: Self.mostRows).map { start in
                let part = Array(ids[start..<min(start + Self.mostRows, ids.count)])
                return Statement(table.requiringSQL, [.integers(part), .integer(Int64(part.count))])
            }
        }
    }

    /// Returns the error for the required objects that do not exist once the change set is written; nil if all do. The transaction is at the savepoint.
    func missingRequired(_ connection: Connection) throws -> StoreError? {
        if changes.requiredObjects.isEmpty { return nil }
        let required = Dictionary(grouping: changes.requiredObjects, by: \.entity)
        var missing: [Int: Set<Int64>] = [:]
        for (entity, objects) in required {
            let table = try table(entity)
            let wanted = Set(objects.map(\.rowID))
            var absent = wanted
            let found = try connection.rows(
                "SELECT \(SQLNames.objectID) FROM \(table.name) WHERE \(SQLNames.objectID) = ANY($1::bigint[])",
                [.integers(absent.sorted())])
            for row in 0..<found.count { if let id = found.integer(row, 0) { absent.remove(id) } }
            // The change set itself inserts and deletes objects.
            for change in changes.changes where change.entity == entity {
                switch change.kind {
                case .insert: absent.remove(change.rowID)
                case .delete: if wanted.contains(change.rowID) { absent.insert(change.rowID) }
                case .update: break
                }
            }
            missing[entity] = absent
        }
        return changes.refusal { missing[$0.entity]?.contains($0.rowID) ?? false }
    }

    /// - Throws: `misuse` for an entity that the schema does not have.
    func table(_ entity: Int) throws -> EntityTable {
        guard tables.entities.indices.contains(entity) else {
            throw StoreError(.misuse, "The schema that the store was opened with has no entity \(entity).", location: location)
        }
        return tables.entities[entity]
    }
}
