import PolyStoreBackend

/// Turns change sets into statements: one for each entity and kind of change, with the values of all objects as arrays.
struct ChangeWriter {
    let tables: StoreTables
    /// The change sets: one, or several that only insert.
    let sets: [ChangeSet]
    /// The first change set, which is the only one where the object of an error is looked for.
    let changes: ChangeSet
    let location: String
    /// Whether many rows are copied. The server refuses that for tables with row-level security.
    var copies = true
    /// The value of ``ChangeWriter/longestMessage-swift.type.property``, which tests lower.
    var longestMessage = Self.longestMessage

    init(tables: StoreTables, changes: ChangeSet, following: ArraySlice<ChangeSet> = [], location: String) {
        self.tables = tables
        self.changes = changes
        sets = [changes] + following
        self.location = location
    }

    /// Returns whether the statements of a change set are the same, in any order with those of other such sets, unless one of them fails.
    static func onlyInserts(_ changes: ChangeSet) -> Bool {
        changes.values.isEmpty && changes.logRemoval == nil && changes.links.allSatisfy(\.isAddition)
            && changes.changes.allSatisfy { $0.kind == .insert }
    }

    /// The limits of one statement. A statement with more rows or bytes is divided, because its parameters are in memory on both sides.
    static let mostRows = 20_000
    static let mostBytes = 4 << 20
    /// The number of bytes of an object, an entry of the log or the constants of a request above which they are refused. PostgreSQL receives messages of up to 1 GiB, and closes the
    /// connection after a longer one; the rest of a statement is much shorter than the difference.
    static let longestMessage = 1_000_000_000
    /// The numbers of inserted rows and of their bytes from which the rows of one entity are copied. A copy takes three round trips more than arrays in the pipeline of the commit, and saves the
    /// server 1 to 4 µs a row: both take the same time with 10 ms a round trip.
    static let leastCopied = 20_000
    static let leastCopiedBytes = 8 << 20
    /// The number of rows below which the bytes do not matter.
    private static let fewestCopied = 1000

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
        let links = sets.flatMap(\.links)
        if !links.isEmpty { written += try LinkWriter(tables: tables).statements(links) }
        try written += requiringStatements()
        return written + valueStatements + (try logStatements())
    }

    // MARK: Groups

    /// A change, and the position of its change set.
    struct Row {
        let set: Int
        let change: ChangeSet.Change
    }

    private func record(_ row: Row) -> RecordView { sets[row.set].record(row.change) }

    /// Changes of one entity and one kind that set the same fields.
    struct Group {
        let entity: Int
        let kind: ChangeSet.Kind
        let mask: FieldMask
        var rows: [Row] = []
    }

    /// Returns the changes of a kind in groups, in the order of the entities.
    private func groups(_ kind: ChangeSet.Kind) -> [Group] {
        struct Key: Hashable {
            let entity: Int
            let mask: FieldMask
        }
        var positions: [Key: Int] = [:]
        var found: [Group] = []
        for (set, changes) in sets.enumerated() {
            for change in changes.changes where change.kind == kind {
                let key = Key(entity: change.entity, mask: kind == .update ? change.mask : FieldMask())
                let row = Row(set: set, change: change)
                if let position = positions[key] {
                    found[position].rows.append(row)
                } else {
                    positions[key] = found.count
                    found.append(Group(entity: change.entity, kind: kind, mask: key.mask, rows: [row]))
                }
            }
        }
        return found.sorted { $0.entity < $1.entity }
    }

    /// Returns the statements of a group.
    private func write(_ group: Group) throws -> [Statement] {
        let table = try table(group.entity)
        let fields: [Int] =
            switch group.kind {
            case .insert: Array(table.formats.indices)
            case .update: table.formats.indices.filter(group.mask.contains)
            case .delete: []
            }
        // By row id, so that each page of a table is visited once.
        let rows = group.rows.sorted { $0.change.rowID < $1.change.rowID }
        if copies, group.kind == .insert, isCopied(rows) { return [copy(rows, table)] }
        let sql = table.texts.text(WriteTexts.Key(kind: group.kind, mask: group.mask)) { Self.sql(group.kind, table, fields) }
        return Self.parts(rows, { $0.change.kind == .delete ? 0 : record($0).count }).map { part in
            let types =
                [ParameterType.int8.array] + fields.map { table.formats[$0].type.array }
                + (group.kind == .insert ? [] : [ParameterType.int8.oid])
            return Statement(sql, DeferredParameters(types: types) { try parameters(group.kind, part, table, fields) })
        }
    }

    /// Returns whether inserted rows are copied.
    private func isCopied(_ rows: [Row]) -> Bool {
        rows.count >= Self.leastCopied
            || rows.count >= Self.fewestCopied && rows.reduce(0) { $0 + record($1).count } >= Self.leastCopiedBytes
    }

    /// Encodes the values of changes: an array for the row ids and for each field.
    private func parameters(
        _ kind: ChangeSet.Kind, _ rows: ArraySlice<Row>, _ table: EntityTable, _ fields: [Int]
    ) throws -> [Parameter] {
        let ids = ArrayParameter(.int8, capacity: rows.count * 12)
        let columns = fields.map { ArrayParameter(table.formats[$0].type) }
        for row in rows {
            ids.append(size: 8) { $0.append(row.change.rowID) }
            if fields.isEmpty { continue }
            let record = record(row)
            var left = longestMessage
            for (field, column) in zip(fields, columns) {
                try column.appendElement { try append(field, of: record, row.change, table, to: $0, left: &left) }
            }
        }
        return [ids.parameter] + columns.map(\.parameter) + (kind == .insert ? [] : [.integer(Int64(ids.count))])
    }

    /// Appends the value of a field with its size, or null.
    /// - Parameter left: The number of bytes that the other values of the object leave, which is reduced.
    /// - Returns: `false` for null.
    /// - Throws: `invalidValue` for a value that needs more bytes.
    private func append(
        _ field: Int, of record: RecordView, _ change: ChangeSet.Change, _ table: EntityTable, to buffer: ByteBuffer, left: inout Int
    ) throws -> Bool {
        let start = buffer.count
        let hasValue = try ValueWriter.append(field, of: record, change, table, to: buffer)
        left -= buffer.count - start
        guard left >= 0 else { throw ValueWriter.tooLarge(change, table, field, longestMessage) }
        return hasValue
    }

    /// Returns the statement that copies inserted rows.
    private func copy(_ rows: [Row], _ table: EntityTable) -> Statement {
        let columns = ([SQLNames.objectID] + table.columns).joined(separator: ", ")
        let copied = CopiedRows(columnCount: Int16(clamping: table.columns.count + 1), count: rows.count) { index, buffer in
            let row = rows[index]
            buffer.append(size: 8) { $0.append(row.change.rowID) }
            let record = record(row)
            var left = longestMessage
            for field in table.formats.indices { _ = try append(field, of: record, row.change, table, to: buffer, left: &left) }
        }
        return .copy("COPY \(table.name) (\(columns)) FROM STDIN (FORMAT binary)", copied)
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
}
