import CSQLite
import PolyStoreBackend

// A big load into a table that is empty or not much larger: its indexes are dropped, and made anew when all rows are there. SQLite then
// sorts their entries and writes each page once, where inserting them one by one, in no order, would look each up and split pages.

extension ChangeWriter {
    /// Fewer inserts are not worth the changes of the schema, after which every connection prepares its statements again.
    private static let leastInserts = 5000

    /// The entities of which so much is inserted that making their indexes anew is quicker.
    func bulkEntities() throws -> [EntityTable] {
        let list = changes.changes
        guard list.count >= Self.leastInserts else { return [] }
        var counts = Array(repeating: 0, count: tables.entities.count)
        for change in list where change.kind == .insert { counts[change.entity] += 1 }
        return try zip(tables.entities, counts).compactMap { table, count in
            guard count >= Self.leastInserts, !table.indexes.isEmpty else { return nil }
            // Ids are given out in order, so the greatest one tells at once how many rows there can be at most.
            let greatest = try connection.integer("SELECT max(\(SQLNames.objectID)) FROM \(table.name)") ?? 0
            return greatest <= count ? table : nil
        }
    }

    func dropIndexes(_ table: EntityTable) throws {
        for index in table.indexes { try connection.execute("DROP INDEX \(index.name)") }
    }

    /// - Throws: ``Taken`` where a unique value is there twice.
    func makeIndexes(_ table: EntityTable) throws {
        for sql in table.indexSQL {
            let code = sqlite3_exec(connection.handle, sql, nil, nil, nil)
            if code == SQLITE_OK { continue }
            let error = connection.error(code, "Indexing \(table.entity.name)")
            let isTaken = sqlite3_extended_errcode(connection.handle) == polystore_sqlite_constraint_unique
            guard isTaken, let first = changes.changes.first(where: { $0.kind == .insert }) else { throw error }
            throw Taken(change: first, error: error)
        }
    }
}
