/// A table as its database declares it.
struct TableDefinition {
    struct Column {
        let name: String
        let declaredType: String
        let isRequired: Bool
        /// The expression of the default; nil for none.
        let defaultExpression: String?
        /// The position in the primary key, from 1; 0 for a column that is not part of it.
        let keyPosition: Int
        let isGenerated: Bool
        /// The collating sequence; BINARY by default.
        let collation: String
        /// Whether SQLite itself has the collating sequence.
        let isCollationKnown: Bool

        var affinity: ColumnAffinity { ColumnAffinity(declaredType) }
    }

    struct ForeignKey {
        let columns: [String]
        let table: String
        /// The columns that are referred to; empty for the primary key.
        let targets: [String]
        let onDelete: String
        let onUpdate: String
    }

    struct Index {
        let columns: [String]
        let isUnique: Bool
    }

    let name: String
    let sql: String
    let isWithoutRowID: Bool
    let columns: [Column]
    let foreignKeys: [ForeignKey]
    /// The indexes of columns, without those that are implied by the primary key of a table with row ids.
    let indexes: [Index]

    /// The columns of the primary key, in its order.
    var key: [String] { columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name) }

    /// A Boolean value that indicates whether the primary key is an alias of the row id, which is never null.
    var hasRowIDKey: Bool {
        key.count == 1 && columns.contains { $0.keyPosition == 1 && $0.declaredType.uppercased() == "INTEGER" } && !isWithoutRowID
    }

    /// Returns the position of a column; nil if there is none of the name.
    func position(of name: String) -> Int? { columns.firstIndex { isSameName($0.name, name) } }

    func column(_ name: String) -> Column? { position(of: name).map { columns[$0] } }

    /// Returns whether no two rows have the same values of some columns.
    func isUnique(_ names: [String]) -> Bool {
        let wanted = Set(names.map(foldedName))
        return Set(key.map(foldedName)) == wanted || indexes.contains { $0.isUnique && Set($0.columns.map(foldedName)) == wanted }
    }

    /// Returns whether a column is never null.
    func isRequired(_ column: Column) -> Bool { column.isRequired || column.keyPosition > 0 && (hasRowIDKey || isWithoutRowID) }
}

/// A part of a database that its schema does not express.
struct TableNote {
    let table: String
    let column: String?
    let reason: String
}
