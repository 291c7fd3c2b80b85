import CSQLite
import PolyStoreBackend

/// A table whose rows the migration keeps: the source table, the target table, and the origin of each target field.
struct CarriedTable {
    let source: EntityTable
    let target: EntityTable
    /// The origin of each target field, by field index.
    let fields: [SchemaChange.FieldSource]
    /// A Boolean value that indicates whether the source table is altered in place: it keeps every column, and `ALTER TABLE` can add the missing ones.
    let isAltered: Bool

    init(source: EntityTable, target: EntityTable, fields: [SchemaChange.FieldSource]) {
        self.source = source
        self.target = target
        self.fields = fields
        var used: Set<Int> = []
        var isUsedOnce = true
        var hasLiterals = true
        for part in fields {
            switch part {
            case .constant(let value): if Self.literal(value) == nil { hasLiterals = false }
            case .field(let index, _): if !used.insert(index).inserted { isUsedOnce = false }
            }
        }
        isAltered = hasLiterals && isUsedOnce && used.count == source.fieldCount
    }

    /// Returns the value that replaces null in a target field; `nil` if null is kept or cannot occur.
    private func replacement(_ field: Int) -> Value? {
        guard case .field(let index, let value) = fields[field], !value.isNull, source.entity.fields[index].isOptional else { return nil }
        return value
    }

    /// Returns whether an index of the source table serves as an index of the target table unchanged.
    func keeps(_ index: EntityTable.Index) -> Bool {
        var origins: [PolyStoreBackend.Index.Part] = []
        for part in index.parts {
            guard case .field(let origin, _) = fields[part.field], replacement(part.field) == nil else { return false }
            origins.append(part.of(origin))
        }
        return source.indexes.contains { $0.plainName == index.plainName && $0.isUnique == index.isUnique && $0.parts == origins }
    }

    // MARK: - In place

    /// Renames and adds columns of the source table and replaces null.
    /// - Parameter name: The current name of the table, quoted.
    func alter(_ name: String, _ connection: Connection) throws {
        try renameColumns(name, connection)
        for (field, part) in fields.enumerated() {
            guard case .constant(let value) = part, let literal = Self.literal(value) else { continue }
            let type = target.entity.fields[field].type.physical.sqlType
            let suffix = value.isNull ? "" : " DEFAULT \(literal)"
            try connection.execute("ALTER TABLE \(name) ADD COLUMN \(target.columns[field]) \(type)\(suffix)")
        }
        for field in fields.indices {
            guard let value = replacement(field) else { continue }
            let column = target.columns[field]
            try run("UPDATE \(name) SET \(column) = ?1 WHERE \(column) IS NULL", [value], connection)
        }
    }

    private func renameColumns(_ name: String, _ connection: Connection) throws {
        var renamed: [(from: String, to: String)] = []
        for (field, part) in fields.enumerated() {
            guard case .field(let index, _) = part, source.columns[index] != target.columns[field] else { continue }
            renamed.append((source.columns[index], target.columns[field]))
        }
        // Columns can exchange their names, or change only the case of letters.
        let taken = Set((source.columns + target.columns).map(SQLNames.folded))
        var number = 0
        let steps = renamed.map { column in
            var temporary = ""
            repeat {
                number += 1
                temporary = "\"polystore_column_\(number)\""
            } while taken.contains(SQLNames.folded(temporary))
            return (from: column.from, temporary: temporary, to: column.to)
        }
        let present = Set(source.columns.map(SQLNames.folded))
        if renamed.allSatisfy({ !present.contains(SQLNames.folded($0.to)) }) {
            for step in steps { try rename(name, step.from, step.to, connection) }
        } else {
            for step in steps { try rename(name, step.from, step.temporary, connection) }
            for step in steps { try rename(name, step.temporary, step.to, connection) }
        }
    }

    private func rename(_ table: String, _ column: String, _ newName: String, _ connection: Connection) throws {
        try connection.execute("ALTER TABLE \(table) RENAME COLUMN \(column) TO \(newName)")
    }

    /// Returns a constant as the text of a `DEFAULT` clause; `nil` if no short text represents the value exactly.
    private static func literal(_ value: Value) -> String? {
        switch value {
        case .null: return "NULL"
        case .integer(let value): return value == .min ? nil : String(value)
        case .real(let value):
            // Not every version of SQLite converts other numbers from text exactly.
            guard value.rounded() == value, abs(value) < 1e15, value != 0 || value.sign == .plus else { return nil }
            return "\(Int64(value)).0"
        case .text(let value):
            guard value.utf8.count <= 1000, !value.utf8.contains(0) else { return nil }
            return SQLNames.literal(value)
        case .blob(let bytes):
            guard bytes.count <= 500 else { return nil }
            let digits = Array("0123456789abcdef".utf8)
            var text: [UInt8] = []
            for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
            return "x'" + String(decoding: text, as: UTF8.self) + "'"
        }
    }

    // MARK: - By copying

    /// Copies every row into the target table, in ascending order of row ids.
    /// - Parameter name: The current name of the source table, quoted.
    func copyRows(from name: String, _ connection: Connection) throws {
        var values: [Value] = []
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let expressions = fields.enumerated().map { field, part in
            switch part {
            case .constant(let value): return value.isNull ? "NULL" : parameter(value)
            case .field(let index, _):
                guard let value = replacement(field) else { return source.columns[index] }
                return "coalesce(\(source.columns[index]), \(parameter(value)))"
            }
        }
        try run(
            "INSERT INTO \(target.name) (\(target.selectList)) SELECT \(([SQLNames.objectID] + expressions).joined(separator: ", ")) "
                + "FROM \(name) ORDER BY \(SQLNames.objectID)", values, connection)
    }

    private func run(_ sql: String, _ values: [Value], _ connection: Connection) throws {
        let statement = try connection.prepare(sql)
        defer { connection.finalize(statement) }
        for (position, value) in values.enumerated() {
            guard let binding = Binding(value) else { continue }
            let code = statement.bind(Int32(position + 1), binding)
            guard code == SQLITE_OK else { throw connection.error(code, "Migrating \(target.entity.name)") }
        }
        try connection.run(statement, "Migrating \(target.entity.name)")
    }
}
