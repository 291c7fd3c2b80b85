import CSQLite
import PolyStoreBackend

// A bulk load modifies many entries of an index in random order, which costs a search per entry and splits pages. If enough entries change, the index is
// dropped first and rebuilt near the end: SQLite then sorts the entries and writes each full page once. The last entries are inserted one by one and split most
// pages, as later inserts would.

extension ChangeWriter {
    /// An index that is dropped before the load and rebuilt after it.
    struct LateIndex {
        let table: EntityTable
        /// The index in ``EntityTable/indexes``.
        let position: Int
        /// The number of final inserts of the table that run with the index in place.
        let lastInserts: Int
    }

    /// The minimum number of entries. Below it, dropping an index costs more than it saves, because a schema change makes every connection re-prepare its
    /// statements.
    private static let leastEntries = 5000
    /// One of this many rows is inserted with the indexes in place: one or two per index page, which is enough to split them.
    private static let rowsPerLastInsert = 32

    /// Returns the indexes that are faster to rebuild: those with at least half as many changed entries as there will be rows. For a table of 100,000 rows the
    /// break-even point was a third for integers and nearly two thirds for texts of 30 bytes.
    func lateIndexes() throws -> [LateIndex] {
        guard changes.changes.count >= Self.leastEntries else { return [] }
        var inserts = Array(repeating: 0, count: tables.entities.count)
        // The number of updates per field in existing rows.
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
        // An index that another process has dropped, or that is still to be created in the background, is not rebuilt.
        let present = Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'index'"))
        for (table, inserted) in zip(tables.entities, inserts) {
            let entries = table.indexes.map { index in inserted + (index.fields.map { updates[table.entity.index][$0] }.max() ?? 0) }
            guard let most = entries.max(), most >= Self.leastEntries else { continue }
            // Row ids are assigned in ascending order, so the greatest one is an upper bound of the number of rows.
            let greatest = try connection.integer("SELECT max(\(SQLNames.objectID)) FROM \(table.name)") ?? 0
            // Written so that row ids near the maximum do not overflow.
            let lastInserts = min(inserted, max(1, Int(greatest) / Self.rowsPerLastInsert + inserted / Self.rowsPerLastInsert))
            for (position, count) in entries.enumerated()
            where count >= Self.leastEntries && present.contains(table.indexes[position].plainName) {
                guard Int64(count) - Int64(inserted / 2) >= greatest / 2 else { continue }
                late.append(LateIndex(table: table, position: position, lastInserts: lastInserts))
            }
        }
        return late
    }

    func drop(_ late: LateIndex) throws { try connection.execute("DROP INDEX \(late.table.indexes[late.position].name)") }

    /// Inserts all new rows and rebuilds the late indexes, each before the last inserts of its table.
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

    /// Creates a late index.
    /// - Throws: ``UniqueViolation`` if a unique value occurs twice.
    private func make(_ late: LateIndex) throws {
        let code = sqlite3_exec(connection.handle, late.table.indexSQL[late.position], nil, nil, nil)
        if code == SQLITE_OK { return }
        let error = connection.error(code, "Indexing \(late.table.entity.name)")
        let isUniqueViolation = sqlite3_extended_errcode(connection.handle) == polystore_sqlite_constraint_unique
        guard isUniqueViolation, let first = changes.changes.first(where: { $0.kind != .delete }) else { throw error }
        throw UniqueViolation(change: first, error: error)
    }
}
