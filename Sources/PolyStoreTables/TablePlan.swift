import PolyStoreBackend

/// The attribute of an entity that identifies the rows of a table for foreign keys.
struct RowKey: Sendable, Hashable {
    let entity: String
    let attribute: String
    let form: ColumnForm
}

/// The property that the values of a column become.
enum ColumnRole: Sendable {
    case attribute(String, ColumnForm)
    /// - Parameter isLate: Whether the target can be imported after the row.
    case reference(String, RowKey, isLate: Bool)
}

/// A table whose rows are objects.
struct TablePlan: Sendable {
    let table: String
    let entity: String
    let columns: [(name: String, role: ColumnRole)]
    /// The order in which rows are read.
    let order: String
    /// The key by which the rows are found again: a unique column without NULL; nil if there is none.
    let key: (column: Int, key: RowKey)?
}

/// A table whose rows are pairs of objects in a many-to-many relationship.
struct LinkPlan: Sendable {
    let table: String
    let sourceColumn: String
    let targetColumn: String
    let source: RowKey
    let target: RowKey
    /// The relationship from the source to the target.
    let relationship: String
    let order: String
}

/// The values of a database file besides its tables.
struct FileHeader: Sendable {
    let pragmas: [(name: String, value: Int64)]
    let sequences: [(table: String, largest: Int64)]

    init(_ connection: TableConnection) throws {
        pragmas = try ["application_id", "user_version"].compactMap { name in
            guard case .integer(let value)? = try connection.rows("PRAGMA \(name)").first?.first else { return nil }
            return (name, value)
        }
        let hasSequences = try !connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").isEmpty
        sequences =
            try !hasSequences
            ? []
            : connection.rows("SELECT name, seq FROM sqlite_sequence").compactMap {
                guard case .text(let table) = $0[0], case .integer(let largest) = $0[1] else { return nil }
                return (table, largest)
            }
    }

    func write(to connection: TableConnection) throws {
        for (name, value) in pragmas { try connection.execute("PRAGMA \(name) = \(value)") }
        // A dropped table with AUTOINCREMENT can have left its largest row id.
        if try sequences.isEmpty || connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").isEmpty { return }
        let insertion = try connection.prepare(
            "INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?1)")
        // New objects can have larger row ids.
        let update = try connection.prepare("UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1")
        for (table, largest) in sequences {
            try insertion.run([.text(table), .integer(largest)])
            try update.run([.text(table), .integer(largest)])
        }
    }
}

/// The plan of the import and the export of a database.
struct TablesPlan: Sendable {
    var schema: SchemaDescription
    /// The tables in an order in which each follows those that its rows need.
    var tables: [TablePlan]
    var links: [LinkPlan]
    /// The statements that create the tables, and those that create everything else.
    var tableStatements: [String]
    var otherStatements: [String]
    /// Values of the file: the pragmas `application_id` and `user_version`, and the largest row ids of tables with AUTOINCREMENT.
    var header: FileHeader
}
