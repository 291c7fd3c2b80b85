import PolyStoreBackend

/// The attribute of an entity that identifies the rows of a table for foreign keys.
struct RowKey: Sendable, Hashable {
    let entity: String
    let attribute: String
    let form: ColumnForm
    let affinity: ColumnAffinity

    /// Returns the key that a foreign key refers to, in the form in which the referenced column stores it.
    func key(_ value: SQLiteValue) -> SQLiteValue { affinity.stored(value) }
}

/// What the values of a column become.
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
    /// The key by which the rows are found again; nil if no foreign key refers to the table.
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

/// What a database becomes.
struct TablesPlan: Sendable {
    var schema: SchemaDescription
    /// The tables in an order in which each follows those that its rows need.
    var tables: [TablePlan]
    var links: [LinkPlan]
    /// The statements that create the tables, and those that create everything else.
    var tableStatements: [String]
    var otherStatements: [String]
}
