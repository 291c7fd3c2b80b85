import PolyStoreBackend

/// Turns a change set into statements: one for each entity and kind of change, with the values of all objects as arrays.
struct ChangeWriter {
    let tables: StoreTables
    let changes: ChangeSet
    /// The version of the pending commit.
    let version: UInt64
    let location: String

    /// The limits of one statement. A statement with more rows or bytes is divided, because its parameters are in memory on both sides.
    static let mostRows = 20_000
    static let mostBytes = 16 << 20

    /// Returns the statements, in an order that frees unique values before they are used again.
    /// - Throws: `constraint` for null in a required field, `misuse` for another schema.
    func statements() throws -> [Statement] {
        let deletions = groups(.delete)
        let updates = groups(.update)
        var written: [Statement] = []
        for group in deletions { written += try write(group) }
        let updating = try updates.map { ($0, try write($0)) }
        // The server checks uniqueness at the end of each statement, which is too early if several statements exchange values.
        var perEntity: [Int: Int] = [:]
        for (group, statements) in updating where !group.mask.isDisjoint(with: tables.entities[group.entity].uniqueFields) {
            perEntity[group.entity, default: 0] += statements.count
        }
        let isDeferred = perEntity.values.contains { $0 > 1 }
        if isDeferred { written.append(.once("SET CONSTRAINTS ALL DEFERRED")) }
        for (_, statements) in updating { written += statements }
        for group in groups(.insert) { written += try write(group) }
        if isDeferred { written.append(.once("SET CONSTRAINTS ALL IMMEDIATE")) }
        return written + (try LinkWriter(tables: tables).statements(changes.links)) + valueStatements + logStatements
    }

    // MARK: Groups

    /// Changes of one entity and one kind that set the same fields.
    struct Group {
        let entity: Int
        let kind: ChangeSet.Kind
        let mask: FieldMask
        var changes: [ChangeSet.Change] = []
    }

    /// Returns the changes of a kind in groups, in the order of the entities.
    private func groups(_ kind: ChangeSet.Kind) -> [Group] {
        struct Key: Hashable {
            let entity: Int
            let mask: FieldMask
        }
        var positions: [Key: Int] = [:]
        var found: [Group] = []
        for change in changes.changes where change.kind == kind {
            let key = Key(entity: change.entity, mask: kind == .update ? change.mask : FieldMask())
            if let position = positions[key] {
                found[position].changes.append(change)
            } else {
                positions[key] = found.count
                found.append(Group(entity: change.entity, kind: kind, mask: key.mask, changes: [change]))
            }
        }
        return found.sorted { $0.entity < $1.entity }
    }

    /// Returns the statements of a group.
    private func write(_ group: Group) throws -> [Statement] {
        guard group.entity < tables.entities.count else {
            throw StoreError(.misuse, "The schema that the store was opened with has no entity \(group.entity).", location: location)
        }
        let table = tables.entities[group.entity]
        let fields: [Int] =
            switch group.kind {
            case .insert: Array(table.formats.indices)
            case .update: table.formats.indices.filter(group.mask.contains)
            case .delete: []
            }
        let sql = Self.sql(group.kind, table, fields)
        var statements: [Statement] = []
        // By row id, so that each page of a table is visited once.
        var rest = group.changes.sorted { $0.rowID < $1.rowID }[...]
        while !rest.isEmpty {
            let ids = ArrayParameter(.int8, capacity: min(rest.count, Self.mostRows) * 12)
            let columns = fields.map { ArrayParameter(table.formats[$0].type) }
            var byteCount = 0
            while ids.count < Self.mostRows, byteCount < Self.mostBytes, let change = rest.popFirst() {
                ids.append(size: 8) { $0.append(change.rowID) }
                if fields.isEmpty { continue }
                let record = changes.record(change)
                for (field, column) in zip(fields, columns) { try append(field, of: record, change, table, to: column) }
                byteCount += record.count
            }
            let parameters = [ids.parameter] + columns.map(\.parameter)
            statements.append(Statement(sql, parameters + (group.kind == .insert ? [] : [.integer(Int64(ids.count))])))
        }
        return statements
    }

    /// Returns a statement whose parameters are the row ids, a column for each field and, unless it inserts, the number of rows that it must change.
    private static func sql(_ kind: ChangeSet.Kind, _ table: EntityTable, _ fields: [Int]) -> String {
        let arrays = (["$1::bigint[]"] + fields.enumerated().map { "$\($0.offset + 2)::\(table.formats[$0.element].type.name)[]" })
            .joined(separator: ", ")
        let names = (["id"] + fields.map { "f\($0)" }).joined(separator: ", ")
        switch kind {
        case .insert:
            let columns = ([SQLNames.objectID] + fields.map { table.columns[$0] }).joined(separator: ", ")
            return "INSERT INTO \(table.name) (\(columns)) SELECT * FROM unnest(\(arrays)) AS rows(\(names))"
        case .update:
            let set = fields.isEmpty ? ["\(SQLNames.objectID) = rows.id"] : fields.map { "\(table.columns[$0]) = rows.f\($0)" }
            return counted(
                "UPDATE \(table.name) AS t SET \(set.joined(separator: ", ")) FROM unnest(\(arrays)) AS rows(\(names)) WHERE t.\(SQLNames.objectID) = rows.id",
                "$\(fields.count + 2)")
        case .delete:
            return counted("DELETE FROM \(table.name) WHERE \(SQLNames.objectID) = ANY(\(arrays))", "$2")
        }
    }

    /// The SQLSTATE of a statement that changed another number of rows than it must.
    static let wrongCount = "22012"

    /// Returns a statement that fails with ``wrongCount`` unless it changes a number of rows, so that a commit in the same pipeline is not executed.
    static func counted(_ sql: String, _ count: String) -> String {
        "WITH changed AS (\(sql) RETURNING 1) SELECT 1 / (CASE WHEN count(*) = \(count)::bigint THEN 1 ELSE 0 END) FROM changed"
    }

    // MARK: Values

    private func append(
        _ field: Int, of record: RecordView, _ change: ChangeSet.Change, _ table: EntityTable, to column: ArrayParameter
    ) throws {
        let format = table.formats[field]
        guard !record.isNull(field) else {
            guard format.isOptional else { throw Self.required(change, table, field) }
            return column.appendNull()
        }
        switch format.form {
        case .bool: column.append(size: 1) { $0.append(record.integer(field) == 0 ? 0 : 1 as UInt8) }
        case .int2: column.append(size: 2) { $0.append(Int16(truncatingIfNeeded: record.integer(field))) }
        case .int4: column.append(size: 4) { $0.append(Int32(truncatingIfNeeded: record.integer(field))) }
        case .int8: column.append(size: 8) { $0.append(record.integer(field)) }
        case .unsigned: column.append { Numeric.append(UInt64(bitPattern: record.integer(field)), to: $0) }
        case .decimal:
            var isDecimal = false
            column.append { isDecimal = Numeric.append(decimal: record.bytes(field), to: $0) }
            guard isDecimal else { throw Self.invalid(change, table, field, "is not a decimal") }
        case .float4: column.append(size: 4) { $0.append(Float(record.real(field)).bitPattern) }
        case .float8: column.append(size: 8) { $0.append(record.real(field).bitPattern) }
        case .text: column.append { $0.appendNULFree(record.bytes(field)) }
        case .bytes: column.append { $0.append(record.bytes(field)) }
        case .uuid:
            guard record.bytes(field).count == 16 else { throw Self.invalid(change, table, field, "is not a UUID of 16 bytes") }
            column.append { $0.append(record.bytes(field)) }
        }
    }

    private static func invalid(_ change: ChangeSet.Change, _ table: EntityTable, _ field: Int, _ what: String) -> StoreError {
        let name = table.entity.fields[field].name
        return StoreError(
            .invalidValue, "\(table.entity.name).\(name) of object \(change.rowID) \(what).", entity: table.entity.name, attribute: name,
            rowID: change.rowID)
    }

    private static func required(_ change: ChangeSet.Change, _ table: EntityTable, _ field: Int) -> StoreError {
        let name = table.entity.fields[field].name
        return StoreError(
            .constraint,
            "\(table.entity.name).\(name) of \(change.kind == .insert ? "a new object" : "object \(change.rowID)") has no value, and it is not optional.",
            entity: table.entity.name, attribute: name, rowID: change.rowID)
    }

    // MARK: Named values and the change log

    private var valueStatements: [Statement] {
        let names = ArrayParameter(.text)
        let values = ArrayParameter(.bytes)
        let removed = ArrayParameter(.text)
        for change in changes.values {
            var name = change.name
            let target = change.bytes == nil ? removed : names
            target.append { buffer in name.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
            if let bytes = change.bytes { values.append { buffer in bytes.withUnsafeBytes { buffer.append($0) } } }
        }
        var statements: [Statement] = []
        if removed.count > 0 {
            statements.append(Statement("DELETE FROM \(tables.own("values")) WHERE name = ANY($1::text[])", [removed.parameter]))
        }
        if names.count > 0 {
            statements.append(
                Statement(
                    "INSERT INTO \(tables.own("values")) (name, value) SELECT * FROM unnest($1::text[], $2::bytea[]) AS rows(name, value) "
                        + "ON CONFLICT (name) DO UPDATE SET value = excluded.value", [names.parameter, values.parameter]))
        }
        return statements
    }

    private var logStatements: [Statement] {
        var statements: [Statement] = []
        if let position = changes.logRemoval {
            statements.append(Statement("DELETE FROM \(tables.own("log")) WHERE position <= $1", [.integer(position)]))
        }
        var rest = changes.logEntries[...]
        while !rest.isEmpty {
            let entries = ArrayParameter(.bytes)
            while entries.count < Self.mostRows, entries.byteCount < Self.mostBytes, let entry = rest.popFirst() {
                entries.append { buffer in entry.withUnsafeBytes { buffer.append($0) } }
            }
            statements.append(
                Statement(
                    "WITH last AS (UPDATE \(tables.own("state")) SET \"lastLogEntry\" = \"lastLogEntry\" + $2 RETURNING \"lastLogEntry\" - $2 AS position) "
                        + "INSERT INTO \(tables.own("log")) (position, version, entry) "
                        + "SELECT last.position + rows.number, $3, rows.entry FROM last, unnest($1::bytea[]) WITH ORDINALITY AS rows(entry, number)",
                    [entries.parameter, .integer(Int64(entries.count)), .integer(Int64(bitPattern: version))]))
        }
        return statements
    }
}
