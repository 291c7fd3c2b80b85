import PolyStoreBackend

/// Reads the declarations of a database.
struct CatalogueReader {
    let connection: TableConnection
    private(set) var tables: [TableDefinition] = []
    private(set) var notes: [TableNote] = []
    private(set) var leftOut = LeftOut()
    /// The collating sequences of SQLite itself. Its list of them has those that a schema names too.
    private let knownCollations = Set(["binary", "nocase", "rtrim"].map(foldedName))

    init(_ connection: TableConnection) throws {
        self.connection = connection
        let shadows = try connection.rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main'").reduce(
            into: [[UInt8]: String]()
        ) {
            if case (.text(let name), .text(let type)) = ($1[0], $1[1]) { $0[foldedName(name)] = type }
        }
        leftOut.tables = Set(shadows.filter { ["virtual", "shadow"].contains($0.value) }.keys)
        let rows = try connection.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
        for row in rows {
            guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let table) = row[2] else { continue }
            let sql = if case .text(let sql) = row[3] { sql } else { "" }
            switch type {
            case "view": note(name, nil, "is a view, which has no rows of its own. An export creates it.")
            case "trigger": noteTrigger(name, of: table, sql)
            case "table": try readTable(name, sql, kind: shadows[foldedName(name)] ?? "table")
            default: break
            }
        }
    }

    private mutating func note(_ table: String, _ column: String?, _ reason: String) {
        notes.append(TableNote(table: table, column: column, reason: reason))
    }

    private mutating func noteTrigger(_ name: String, of table: String, _ sql: String) {
        if leftOut.tables.contains(foldedName(table)) { return }
        guard let used = SQLWords(sql).names.first(where: { leftOut.tables.contains(foldedName($0)) }) else {
            return note(table, nil, "has the trigger \(name), which no class executes. An export creates it.")
        }
        // It would refuse every change of the table.
        leftOut.parts.insert(foldedName(name))
        note(table, nil, "has the trigger \(name), which uses the virtual table \(used), and is left out with it.")
    }

    private mutating func readTable(_ name: String, _ sql: String, kind: String) throws {
        switch kind {
        case "virtual": return note(name, nil, "is a virtual table, whose module computes its rows. It is left out.")
        case "shadow": return note(name, nil, "belongs to a virtual table, and is left out.")
        default: break
        }
        let isWithoutRowID =
            try connection.rows("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [.text(name)]).first == [.integer(1)]
        if isWithoutRowID { note(name, nil, "is a table WITHOUT ROWID. Its objects have row ids besides their primary key.") }
        let collations = try collations(of: name)
        var columns: [TableDefinition.Column] = []
        try connection.rows("SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)", [.text(name)]) { row in
            guard case .text(let column) = row[0], case .integer(let hidden) = row[5], hidden != 1 else { return }
            let declared = if case .text(let type) = row[1] { type } else { "" }
            let value: String? = if case .text(let text) = row[3] { text } else { nil }
            let position = if case .integer(let position) = row[4] { Int(position) } else { 0 }
            columns.append(
                TableDefinition.Column(
                    name: column, declaredType: declared, isRequired: row[2] != .integer(0), defaultExpression: value,
                    keyPosition: position,
                    isGenerated: hidden > 1, collation: collations[foldedName(column)] ?? "BINARY",
                    isCollationKnown: knownCollations.contains(foldedName(collations[foldedName(column)] ?? "BINARY"))))
        }
        let table = TableDefinition(
            name: name, sql: sql, isWithoutRowID: isWithoutRowID, columns: columns, foreignKeys: try foreignKeys(of: name),
            indexes: try indexes(of: name))
        for column in columns where column.isGenerated {
            note(name, column.name, "is a generated column: its expression is not part of a schema. It is left out.")
        }
        for column in columns where !column.isGenerated && column.collation.uppercased() != "BINARY" {
            let end =
                column.isCollationKnown
                ? "compare with [c] for letters of either case."
                : "Only the program that wrote the database has it, so that no export can create the table."
            note(
                name, column.name,
                "has the collating sequence \(column.collation). Attributes are compared as texts are stored"
                    + (column.isCollationKnown ? "; " : ". ") + end)
        }
        for check in SQLWords(sql).checks {
            note(name, nil, "has the rule CHECK (\(check)), which is not part of the schema. Write it as a rule or in validate().")
        }
        tables.append(table)
    }

    private func foreignKeys(of table: String) throws -> [TableDefinition.ForeignKey] {
        var keys: [Int64: (columns: [String], table: String, targets: [String], onDelete: String, onUpdate: String)] = [:]
        try connection.rows(
            "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?) ORDER BY id, seq", [.text(table)]
        ) { row in
            guard case .integer(let id) = row[0], case .text(let target) = row[1], case .text(let column) = row[2] else { return }
            let action = if case .text(let action) = row[4] { action } else { "" }
            let update = if case .text(let update) = row[5] { update } else { "" }
            var key = keys[id] ?? ([], target, [], action, update)
            key.columns.append(column)
            if case .text(let to) = row[3] { key.targets.append(to) }
            keys[id] = key
        }
        // SQLite numbers them from the last to the first.
        return keys.sorted { $0.key > $1.key }.map {
            TableDefinition.ForeignKey(
                columns: $0.value.columns, table: $0.value.table, targets: $0.value.targets, onDelete: $0.value.onDelete,
                onUpdate: $0.value.onUpdate)
        }
    }

    private mutating func indexes(of table: String) throws -> [TableDefinition.Index] {
        var found: [TableDefinition.Index] = []
        for row in try connection.rows(
            "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?) ORDER BY seq DESC", [.text(table)])
        {
            guard case .text(let name) = row[0] else { continue }
            let isUnique = row[1] == .integer(1)
            if row[3] == .integer(1) {
                note(table, nil, "has the partial index \(name)\(isUnique ? ", which is unique for some rows only" : ""). It is left out.")
                continue
            }
            let parts = try connection.rows(
                "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno", [.text(name)])
            let foreign = parts.lazy.compactMap { if case .text(let order) = $0[2] { order } else { nil } }.first {
                !knownCollations.contains(foldedName($0))
            }
            if let foreign {
                leftOut.parts.insert(foldedName(name))
                note(
                    table, nil,
                    "has the index \(name) with the collating sequence \(foreign), which only the program that wrote it has. It is left out."
                )
                continue
            }
            let columns = parts.compactMap { if case .text(let column) = $0[0] { column } else { nil } }
            guard columns.count == parts.count else {
                note(table, nil, "has the index \(name) of an expression. It is left out.")
                continue
            }
            if isUnique, parts.contains(where: { $0[2] != .text("BINARY") }) {
                note(
                    table, nil,
                    "has the unique index \(name) with a collating sequence, which regards other texts as equal. Here they are unique as they are stored."
                )
            }
            found.append(TableDefinition.Index(columns: columns, isUnique: isUnique))
        }
        return found
    }

    /// Returns the collating sequences that are declared for columns, by their folded names.
    private func collations(of table: String) throws -> [[UInt8]: String] {
        var found: [[UInt8]: String] = [:]
        // An index has the collating sequence of its column, unless it declares another one.
        let sql = try connection.rows("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(table)]).first
        guard case .text(let text)? = sql?.first else { return found }
        for (column, collation) in SQLWords(text).collations { found[foldedName(column)] = collation }
        return found
    }
}

/// The folded names of the tables and other parts that neither a schema nor an export contains.
struct LeftOut {
    /// Virtual tables, and those that belong to them.
    var tables: Set<[UInt8]> = []
    /// Indexes and triggers.
    var parts: Set<[UInt8]> = []
}
