import CSQLite
import PolyStoreBackend

// A big load changes much of an index, entry by entry and in no order: each is looked for, and pages are split. Where enough changes, the index is
// dropped first and made anew when nearly all is written: SQLite then sorts the entries and writes each page once, and full. The last entries come
// one by one, and split most pages, as whatever comes later would.

extension ChangeWriter {
    /// An index that is dropped first and made anew.
    struct LateIndex {
        let table: EntityTable
        /// Of ``EntityTable/indexes``.
        let position: Int
        /// So many inserts, the last of the table's, find it in place.
        let lastInserts: Int
    }

    /// Fewer entries are not worth the changes of the schema, after which every connection prepares its statements again.
    private static let leastEntries = 5000
    /// A row of so many finds the indexes in place: one or two for each of an index's pages, which is enough to split them.
    private static let rowsPerLastInsert = 32

    /// The indexes of which so much changes that making them anew is quicker: half as many entries as there will be rows. Of a table of
    /// 100,000 rows it was even at a third for integers, and at nearly two thirds for texts of 30 bytes.
    func lateIndexes() throws -> [LateIndex] {
        guard changes.changes.count >= Self.leastEntries else { return [] }
        var inserts = Array(repeating: 0, count: tables.entities.count)
        // How often each field is written in a row that was there before.
        var updates = tables.entities.map { Array(repeating: 0, count: $0.fieldCount) }
        for change in changes.changes {
            switch change.kind {
            case .insert: inserts[change.entity] += 1
            case .update:
                for index in tables.entities[change.entity].indexedFields where change.mask.contains(index) {
                    updates[change.entity][index] += 1
                }
            case .delete: continue
            }
        }
        var late: [LateIndex] = []
        for (table, inserted) in zip(tables.entities, inserts) {
            let entries = table.indexes.map { index in inserted + (index.fields.map { updates[table.entity.index][$0] }.max() ?? 0) }
            guard let most = entries.max(), most >= Self.leastEntries else { continue }
            // Ids are given out in order, so the greatest one tells at once how many rows there can be at most.
            let greatest = try connection.integer("SELECT max(\(SQLNames.objectID)) FROM \(table.name)") ?? 0
            // What follows is written so that ids near the end do not overflow.
            let lastInserts = min(inserted, max(1, Int(greatest) / Self.rowsPerLastInsert + inserted / Self.rowsPerLastInsert))
            for (position, count) in entries.enumerated() where count >= Self.leastEntries {
                guard Int64(count) - Int64(inserted / 2) >= greatest / 2 else { continue }
                late.append(LateIndex(table: table, position: position, lastInserts: lastInserts))
            }
        }
        return late
    }

    func drop(_ late: LateIndex) throws { try connection.execute("DROP INDEX \(late.table.indexes[late.position].name)") }

    /// Inserts all new rows and makes the late indexes, each before the last inserts of its table.
    func insertAll(indexingLate late: [LateIndex]) throws {
        var left = Array(repeating: 0, count: late.isEmpty ? 0 : tables.entities.count)
        if !late.isEmpty { for change in changes.changes where change.kind == .insert { left[change.entity] += 1 } }
        for index in late where left[index.table.entity.index] == 0 { try make(index) }
        for change in changes.changes where change.kind == .insert {
            if !late.isEmpty {
                for index in late where index.table.entity.index == change.entity && left[change.entity] == index.lastInserts {
                    try make(index)
                }
                left[change.entity] -= 1
            }
            try insert(change)
        }
    }

    /// - Throws: ``Taken`` where a unique value is there twice.
    private func make(_ late: LateIndex) throws {
        let code = sqlite3_exec(connection.handle, late.table.indexSQL[late.position], nil, nil, nil)
        if code == SQLITE_OK { return }
        let error = connection.error(code, "Indexing \(late.table.entity.name)")
        let isTaken = sqlite3_extended_errcode(connection.handle) == polystore_sqlite_constraint_unique
        guard isTaken, let first = changes.changes.first(where: { $0.kind != .delete }) else { throw error }
        throw Taken(change: first, error: error)
    }
}
