import CSQLite
import PolyStoreBackend

extension ChangeWriter {
    /// Returns the error for a unique index that rejected a change, with the object that holds the value. Call it before the written rows are rolled back.
    func explain(_ violation: UniqueViolation) -> StoreError {
        let change = violation.change
        let table = connection.tables.entities[change.entity]
        var error = violation.error
        for index in table.indexes where index.isUnique {
            guard let holder = holder(of: index, change, table) else { continue }
            let names = index.fields.map { table.entity.fields[$0].name }.joined(separator: ", ")
            error.attribute = names
            error.message =
                "\(table.entity.name).\(names) of \(described(change.entity, change.rowID)) must be unique, and \(described(change.entity, holder)) has the same value\(duplicateValue(index, change, table))."
            return error
        }
        error.message =
            "A unique attribute of \(change.kind == .insert ? "a new \(table.entity.name)" : "\(table.entity.name) \(change.rowID)") has a value that another object has."
        return error
    }

    /// Returns an object in words, for errors. The caller does not know the row ids of objects that the change set inserts.
    private func described(_ entity: Int, _ rowID: Int64) -> String {
        let isNew = changes.changes.contains { $0.kind == .insert && $0.entity == entity && $0.rowID == rowID }
        return isNew ? "a new object" : "object \(rowID)"
    }

    private func duplicateValue(_ index: EntityTable.Index, _ change: ChangeSet.Change, _ table: EntityTable) -> String {
        guard index.fields.count == 1, isNew(index.fields[0], change) else { return "" }
        return " " + changes.record(change).value(table.entity.fields[index.fields[0]]).literal
    }

    private func isNew(_ fieldIndex: Int, _ change: ChangeSet.Change) -> Bool { change.kind == .insert || change.mask.contains(fieldIndex) }

    private func holder(of index: EntityTable.Index, _ change: ChangeSet.Change, _ table: EntityTable) -> Int64? {
        let record = changes.record(change)
        var conditions: [String] = []
        var values: [Binding] = []
        for fieldIndex in index.fields {
            if isNew(fieldIndex, change) {
                guard let value = Binding(record.value(table.entity.fields[fieldIndex])) else { return nil }
                conditions.append("\(table.columns[fieldIndex]) = ?")
                values.append(value)
            } else {
                conditions.append(
                    "\(table.columns[fieldIndex]) = (SELECT \(table.columns[fieldIndex]) FROM \(table.name) WHERE \(SQLNames.objectID) = ?)"
                )
                values.append(.integer(change.rowID))
            }
        }
        values.append(.integer(change.rowID))
        let sql =
            "SELECT \(SQLNames.objectID) FROM \(table.name) WHERE \(conditions.joined(separator: " AND ")) AND \(SQLNames.objectID) <> ? LIMIT 1"
        guard let statement = try? connection.prepare(sql) else { return nil }
        defer { connection.finalize(statement) }
        for (position, value) in values.enumerated() where statement.bind(Int32(position + 1), value) != SQLITE_OK { return nil }
        return sqlite3_step(statement.handle) == SQLITE_ROW ? sqlite3_column_int64(statement.handle, 0) : nil
    }
}
