import PolyStoreBackend

/// The table of an entity: names and SQL, constant while the store is open.
final class EntityTable: Sendable {
    struct Index: Sendable {
        /// The `Index.name` in the model.
        let modelName: String
        /// The quoted name.
        let name: String
        /// The name as stored in the file.
        let plainName: String
        /// The indexes of the record's fields that determine the entries.
        let fields: [Int]
        /// The components. A field of a JSON attribute has an index after those of the record's fields; see `IndexedJSONField`.
        let components: [Int]
        /// The components as declared.
        let parts: [PolyStoreBackend.Index.Part]
        let isUnique: Bool
    }

    let entity: Entity
    /// The quoted name.
    let name: String
    /// The quoted column names, by field index.
    let columns: [String]
    let indexes: [Index]
    /// The fields of all unique indexes.
    let uniqueFields: FieldMask
    /// The fields of all indexes, without duplicates.
    let indexedFields: [Int]
    /// The properties of each column that the row-copying loops need. Immutable from init to deinit, so any thread can read it.
    nonisolated(unsafe) let columnFormats: UnsafeMutablePointer<ColumnFormat>

    /// `"objectID", "name", …`
    let selectList: String
    // Copied from the entity to save an indirection in the row-copying loops.
    let layout: RecordLayout
    let fieldCount: Int

    init(_ entity: Entity, indexes: [Index]) {
        self.entity = entity
        self.indexes = indexes
        layout = entity.layout
        fieldCount = entity.fields.count
        name = SQLNames.quoted(entity.name)
        columns = entity.fields.map { SQLNames.quoted($0.name) }
        selectList = ([SQLNames.objectID] + columns).joined(separator: ", ")
        columnFormats = .allocate(capacity: max(entity.fields.count, 1))
        for field in entity.fields { (columnFormats + field.index).initialize(to: ColumnFormat(field)) }
        var unique = FieldMask()
        for index in indexes where index.isUnique { for field in index.fields { unique.insert(field) } }
        uniqueFields = unique
        indexedFields = Set(indexes.flatMap(\.fields)).sorted()
    }

    deinit { columnFormats.deallocate() }

    /// Returns whether a field, or a field of JSON, is the first component of an index.
    func isLeading(_ fieldIndex: Int) -> Bool { indexes.contains { $0.components.first == fieldIndex } }

    /// Returns the quoted column of a field, or the call that returns a field of JSON.
    /// - Parameter qualifier: The quoted name or the alias of the table; `nil` for none.
    func expression(_ fieldIndex: Int, in qualifier: String? = nil) -> String {
        let indexed = entity.indexedJSON(at: fieldIndex)
        let column = (qualifier.map { $0 + "." } ?? "") + columns[indexed?.attribute ?? fieldIndex]
        return indexed.map { JSONFieldFunction.call(column, literally: $0.json) } ?? column
    }

    /// Returns the quoted column of a field.
    func column(_ field: FieldReference) -> String { field.isObjectID ? SQLNames.objectID : columns[field.index] }

    var recordSQL: String { "SELECT \(selectList) FROM \(name) WHERE \(SQLNames.objectID) = ?" }
    var deleteSQL: String { "DELETE FROM \(name) WHERE \(SQLNames.objectID) = ?" }

    var insertSQL: String {
        "INSERT INTO \(name) (\(selectList)) VALUES (\(Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")))"
    }

    /// Returns an update statement with the fields first and the row id last.
    func updateSQL(_ fieldIndexes: [Int]) -> String {
        // Without fields, the statement still reports whether the row exists.
        let set =
            fieldIndexes.isEmpty
            ? "\(SQLNames.objectID) = \(SQLNames.objectID)" : fieldIndexes.map { "\(columns[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(name) SET \(set) WHERE \(SQLNames.objectID) = ?"
    }

    /// The statements that create the table and its indexes.
    var creationSQL: [String] { [tableSQL] + indexSQL }

    /// The statement that creates the table.
    var tableSQL: String {
        let declared = entity.fields.map { "\(columns[$0.index]) \($0.type.physical.sqlType)" }
        return "CREATE TABLE \(name) (\((["\(SQLNames.objectID) INTEGER PRIMARY KEY"] + declared).joined(separator: ", ")))"
    }

    /// The statements that create the indexes.
    var indexSQL: [String] {
        indexes.map { index in
            let fields = index.components.map { expression($0) }.joined(separator: ", ")
            return "CREATE \(index.isUnique ? "UNIQUE INDEX" : "INDEX") \(index.name) ON \(name) (\(fields))"
        }
    }
}

extension PhysicalType {
    /// The declared type of a column.
    var sqlType: String {
        switch self {
        case .integer: "INTEGER"
        case .real: "REAL"
        case .text: "TEXT"
        case .blob: "BLOB"
        }
    }
}
