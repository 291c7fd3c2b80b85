import PolyStoreBackend

extension ChangeWriter {
    /// Returns the error of a change set that the server has refused, with the object concerned. The transaction is at the savepoint again afterwards.
    /// - Parameters:
    ///   - error: The error of the server, in a transaction with a savepoint that precedes the change set.
    ///   - undo: The statement that returns to the savepoint.
    func explain(_ error: StoreError, _ connection: Connection, undo: Statement) throws -> StoreError {
        try connection.run([undo])
        switch error.sqlState {
        case Self.wrongCount: return try missing(connection) ?? error
        case "23505":
            // Also after another violation, because the search for equal values writes the change set again.
            for table in tables.entities { if let taken = try taken(table, connection) { return taken } }
            guard let table = tables.entities.first(where: { $0.plainName == error.entity }) else { return error }
            guard let index = table.indexes.first(where: { $0.plainName == error.attribute && $0.isUnique }) else { return error }
            return try duplicate(index, table, error, connection, undo)
        case "54000": return tooLong(error) ?? error
        default: return error
        }
    }

    private func ids(_ table: EntityTable, _ kinds: Set<ChangeSet.Kind>) -> [Int64] {
        changes.changes.filter { $0.entity == table.entity.index && kinds.contains($0.kind) }.map(\.rowID)
    }

    /// Returns the error for an object that does not exist. For one that is both required and updated, it is the error of the requirement.
    private func missing(_ connection: Connection) throws -> StoreError? {
        try missingRequired(connection) ?? missingChanged(connection)
    }

    /// Returns the error for the first object that is updated or deleted and does not exist.
    private func missingChanged(_ connection: Connection) throws -> StoreError? {
        for table in tables.entities {
            let ids = ids(table, [.update, .delete])
            guard !ids.isEmpty else { continue }
            let found = try connection.rows(
                "SELECT rows.id FROM unnest($1::bigint[]) AS rows(id) "
                    + "WHERE NOT EXISTS (SELECT 1 FROM \(table.name) AS t WHERE t.\(SQLNames.objectID) = rows.id) LIMIT 1",
                [.integers(ids)])
            guard found.count > 0, let id = found.integer(0, 0) else { continue }
            let isDeletion = changes.changes.contains { $0.entity == table.entity.index && $0.rowID == id && $0.kind == .delete }
            return StoreError(
                .notFound, "\(table.entity.name) \(id) is not there to be \(isDeletion ? "deleted" : "updated").",
                entity: table.entity.name,
                rowID: id)
        }
        return nil
    }

    /// Returns the error for the first object that is inserted with the row id of an existing one.
    private func taken(_ table: EntityTable, _ connection: Connection) throws -> StoreError? {
        let ids = ids(table, [.insert])
        guard !ids.isEmpty else { return nil }
        let found = try connection.rows(
            "SELECT \(SQLNames.objectID) FROM \(table.name) WHERE \(SQLNames.objectID) = ANY($1) ORDER BY 1 LIMIT 1",
            [.integers(ids)])
        guard found.count > 0, let id = found.integer(0, 0) else { return nil }
        return StoreError(
            .constraint, "\(table.entity.name) \(id) cannot be inserted: there is an object with that id.", entity: table.entity.name,
            rowID: id)
    }

    /// Returns the error for two objects with the same unique value. Writes the change set again, with the checks deferred, and looks for them.
    private func duplicate(
        _ index: EntityTable.Index, _ table: EntityTable, _ error: StoreError, _ connection: Connection, _ undo: Statement
    ) throws -> StoreError {
        let equal = index.fields.map { "a.\(table.columns[$0]) = b.\(table.columns[$0])" }.joined(separator: " AND ")
        let id = SQLNames.objectID
        let search = Statement(
            "SELECT a.\(id), b.\(id) FROM \(table.name) AS a JOIN \(table.name) AS b ON \(equal) AND a.\(id) <> b.\(id) "
                + "WHERE a.\(id) = ANY($1) ORDER BY b.\(id) = ANY($1), a.\(id) DESC LIMIT 1", [.integers(ids(table, [.insert, .update]))])
        let written = try statements().filter { $0.sql != "SET CONSTRAINTS ALL IMMEDIATE" }
        let names = index.fields.map { table.entity.fields[$0].name }.joined(separator: ", ")
        var error = error
        (error.entity, error.attribute) = (table.entity.name, names)
        var rows: Rows?
        do { rows = try connection.run([.once("SET CONSTRAINTS ALL DEFERRED")] + written + [search, undo]).dropLast().last } catch let
            another as StoreError
        {
            // Another violation, which the first one preceded.
            guard connection.failure == nil, another.recovery == .permanent else { throw another }
            try connection.run([undo])
            if another.sqlState == Self.wrongCount, let missing = try missing(connection) { return missing }
        }
        guard let rows, rows.count > 0, let first = rows.integer(0, 0), let holder = rows.integer(0, 1) else {
            error.message = "\(table.entity.name).\(names) of an object must be unique, and another object has the same value."
            return error
        }
        error.rowID = first
        var value = ""
        if index.fields.count == 1, let change = changes.changes.first(where: { $0.entity == table.entity.index && $0.rowID == first }),
            change.kind == .insert || change.mask.contains(index.fields[0])
        {
            value = " " + changes.record(change).value(table.entity.fields[index.fields[0]]).literal
        }
        error.message =
            "\(table.entity.name).\(names) of \(described(table, first)) must be unique, and \(described(table, holder)) has the same value\(value)."
        return error
    }

    /// Returns an object in words. The caller does not know the row ids of objects that the change set inserts.
    private func described(_ table: EntityTable, _ rowID: Int64) -> String {
        let isNew = changes.changes.contains { $0.kind == .insert && $0.entity == table.entity.index && $0.rowID == rowID }
        return isNew ? "a new object" : "object \(rowID)"
    }
}
