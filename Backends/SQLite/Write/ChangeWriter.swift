import CSQLite
import PolyStoreBackend

/// Writes one change set into the open transaction of a connection. The caller manages the savepoint around it.
struct ChangeWriter {
    let connection: Connection
    let changes: ChangeSet
    /// The version of the pending commit.
    let version: UInt64
    var tables: StoreTables { connection.tables }

    /// A unique value that another object holds, with the data to identify that object.
    struct UniqueViolation: Error {
        let change: ChangeSet.Change
        let error: StoreError
    }

    /// Writes all changes, in an order that frees unique values before they are used again.
    /// - Parameters:
    ///   - clearsUnique: Sets the unique fields of all updated objects to null first, so that objects can exchange values.
    ///   - indexingLate: The indexes that are dropped first and rebuilt near the end.
    func write(clearsUnique: Bool, indexingLate late: [LateIndex] = []) throws {
        for index in late { try drop(index) }
        for change in inTableOrder(.delete) { try delete(change) }
        let updates = inTableOrder(.update)
        if clearsUnique { for change in updates { try clearUnique(change) } }
        for change in updates { try update(change) }
        try insertAll(indexingLate: late)
        for link in changes.links { try write(link) }
        try NamedValueTable(connection: connection).write(changes.values)
        try LogTable(connection: connection).write(changes, version: version)
    }

    /// Returns the changes of a kind in table order, so that each page of a table is visited once.
    private func inTableOrder(_ kind: ChangeSet.Kind) -> [ChangeSet.Change] {
        let list = changes.changes
        var order: [RowKey] = []
        for (position, change) in list.enumerated() where change.kind == kind {
            order.append(RowKey(entity: change.entity, id: change.rowID, position: position))
        }
        if order.isEmpty { return [] }
        order.sort { ($0.entity, $0.id) < ($1.entity, $1.id) }
        return order.map { list[Int($0.position)] }
    }

    /// The table and row of a change. Small, because sorting moves it.
    private struct RowKey {
        let entity: Int32
        let position: UInt32
        let id: Int64

        init(entity: Int, id: Int64, position: Int) {
            self.entity = Int32(truncatingIfNeeded: entity)
            self.position = UInt32(truncatingIfNeeded: position)
            self.id = id
        }
    }

    /// A Boolean value that indicates whether clearing unique fields first could resolve a violation.
    var updatesUnique: Bool {
        changes.changes.contains { change in
            change.kind == .update
                && tables.entities[change.entity].entity.fields.contains {
                    change.mask.contains($0.index) && tables.entities[change.entity].uniqueFields.contains($0.index)
                }
        }
    }

    private func delete(_ change: ChangeSet.Change) throws {
        let table = tables.entities[change.entity]
        let statement: Statement
        if let kept = connection.deletes[change.entity] {
            statement = kept
        } else {
            statement = try connection.prepare(table.deleteSQL)
            connection.deletes[change.entity] = statement
        }
        sqlite3_bind_int64(statement.handle, 1, change.rowID)
        try step(statement, change, table)
        if sqlite3_changes(connection.handle) == 0 { throw Self.missing(change, table) }
    }

    func insert(_ change: ChangeSet.Change) throws {
        let table = tables.entities[change.entity]
        let statement: Statement
        if let kept = connection.inserts[change.entity] {
            statement = kept
        } else {
            statement = try connection.prepare(table.insertSQL)
            connection.inserts[change.entity] = statement
        }
        let record = changes.record(change)
        sqlite3_bind_int64(statement.handle, 1, change.rowID)
        let columnFormats = table.columnFormats
        let count = table.columns.count
        var fieldIndex = 0
        while fieldIndex < count {
            try bind(
                statement.handle, Int32(truncatingIfNeeded: fieldIndex &+ 2), columnFormats[fieldIndex], fieldIndex, record, change, table)
            fieldIndex &+= 1
        }
        try step(statement, change, table)
    }

    private func update(_ change: ChangeSet.Change) throws {
        let table = tables.entities[change.entity]
        let update = try connection.updates[change.entity].update(change.mask, table, connection)
        let handle = update.statement.handle
        let record = changes.record(change)
        var index: Int32 = 1
        for fieldIndex in update.fieldIndexes {
            try bind(handle, index, table.columnFormats[fieldIndex], fieldIndex, record, change, table)
            index &+= 1
        }
        sqlite3_bind_int64(handle, index, change.rowID)
        try step(update.statement, change, table)
        if sqlite3_changes(connection.handle) == 0 { throw Self.missing(change, table) }
    }

    private func clearUnique(_ change: ChangeSet.Change) throws {
        let table = tables.entities[change.entity]
        var mask = FieldMask()
        for field in table.entity.fields where change.mask.contains(field.index) && table.uniqueFields.contains(field.index) {
            mask.insert(field.index)
        }
        if mask.isEmpty { return }
        let update = try connection.updates[change.entity].update(mask, table, connection)
        for index in 0..<update.fieldIndexes.count { sqlite3_bind_null(update.statement.handle, Int32(index + 1)) }
        sqlite3_bind_int64(update.statement.handle, Int32(update.fieldIndexes.count + 1), change.rowID)
        try step(update.statement, change, table)
    }

    private func write(_ link: ChangeSet.LinkChange) throws {
        guard link.table < tables.links.count else {
            throw StoreError(.misuse, "The schema that the store was opened with has no link table \(link.table).")
        }
        let table = tables.links[link.table]
        let statement: Statement
        if let kept = link.isAddition ? connection.additions[link.table] : connection.removals[link.table] {
            statement = kept
        } else if link.isAddition {
            statement = try connection.prepare(table.addSQL)
            connection.additions[link.table] = statement
        } else {
            statement = try connection.prepare(table.removeSQL)
            connection.removals[link.table] = statement
        }
        sqlite3_bind_int64(statement.handle, 1, link.source)
        sqlite3_bind_int64(statement.handle, 2, link.target)
        if link.isAddition {
            let positions = table.positions.map { $0 == "targetPosition" ? link.targetPosition : link.sourcePosition }
            for (number, position) in positions.enumerated() {
                if let position {
                    sqlite3_bind_int64(statement.handle, Int32(number + 3), position)
                } else {
                    sqlite3_bind_null(statement.handle, Int32(number + 3))
                }
            }
        }
        try connection.run(statement, "Writing \(table.plainName)")
    }

    private static func missing(_ change: ChangeSet.Change, _ table: EntityTable) -> StoreError {
        StoreError(
            .notFound, "\(table.entity.name) \(change.rowID) is not there to be \(change.kind == .delete ? "deleted" : "updated").",
            entity: table.entity.name, rowID: change.rowID)
    }
}

// MARK: - Binding and running

extension ChangeWriter {
    /// Binds a field of a record without copying: the arena outlives the step, and every use binds again.
    @inline(__always)
    private func bind(
        _ handle: OpaquePointer, _ index: Int32, _ format: ColumnFormat, _ fieldIndex: Int, _ record: RecordView,
        _ change: ChangeSet.Change,
        _ table: EntityTable
    ) throws {
        let code: Int32
        if record.isNull(fieldIndex) {
            guard format.isOptional else { throw Self.required(change, table, fieldIndex) }
            code = sqlite3_bind_null(handle, index)
        } else {
            switch format.physical {
            case .integer:
                let value = record.integer(fieldIndex)
                if value < 0, format.isUnsigned { connection.misordered.insert(fieldIndex, of: table) }
                code = sqlite3_bind_int64(handle, index, value)
            case .real:
                let value = record.real(fieldIndex)
                code = value.isNaN ? bindNaN(handle, index, fieldIndex, table) : sqlite3_bind_double(handle, index, value)
            case .text:
                let bytes = record.bytes(fieldIndex)
                code = sqlite3_bind_text64(
                    handle, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
            case .blob:
                let bytes = record.bytes(fieldIndex)
                code = sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), nil)
            }
        }
        if code != SQLITE_OK { throw refused(code, change, table, fieldIndex) }
    }

    @inline(never)
    private func bindNaN(_ handle: OpaquePointer, _ index: Int32, _ fieldIndex: Int, _ table: EntityTable) -> Int32 {
        connection.misordered.insert(fieldIndex, of: table)
        return sqlite3_bind_text(handle, index, RowReader.nanText, -1, polystore_sqlite_transient())
    }

    @inline(__always)
    private func step(_ statement: Statement, _ change: ChangeSet.Change, _ table: EntityTable) throws {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_DONE else { throw failure(code, statement, change, table) }
        sqlite3_reset(statement.handle)
    }

    @inline(never)
    private func failure(_ code: Int32, _ statement: Statement, _ change: ChangeSet.Change, _ table: EntityTable) -> any Error {
        var error = connection.error(code, "Writing \(table.entity.name) \(change.rowID)")
        error.entity = table.entity.name
        error.rowID = change.rowID
        statement.reset()
        switch Int32(code) {
        case polystore_sqlite_constraint_primary_key, polystore_sqlite_constraint_rowid:
            error.message = "\(table.entity.name) \(change.rowID) cannot be inserted: there is an object with that id."
        case polystore_sqlite_constraint_unique: return UniqueViolation(change: change, error: error)
        default: break
        }
        return error
    }

    @inline(never)
    private func refused(_ code: Int32, _ change: ChangeSet.Change, _ table: EntityTable, _ fieldIndex: Int) -> StoreError {
        let field = table.entity.fields[fieldIndex].name
        var error = connection.error(code, "Writing \(table.entity.name).\(field) of \(change.rowID)")
        error.entity = table.entity.name
        error.attribute = field
        error.rowID = change.rowID
        return error
    }

    @inline(never)
    private static func required(_ change: ChangeSet.Change, _ table: EntityTable, _ fieldIndex: Int) -> StoreError {
        let field = table.entity.fields[fieldIndex].name
        return StoreError(
            .constraint,
            "\(table.entity.name).\(field) of \(change.kind == .insert ? "a new object" : "object \(change.rowID)") has no value, and it is not optional.",
            entity: table.entity.name,
            attribute: field, rowID: change.rowID)
    }
}
