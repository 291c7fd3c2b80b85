import PolyStoreBackend

/// An entity as a table: names and SQL that never change while the store is open.
final class EntityTable: Sendable {
    struct Index: Sendable {
        /// Quoted.
        let name: String
        /// As in the file.
        let plainName: String
        /// Ordinals of fields.
        let fields: [Int]
        let isUnique: Bool
    }

    let entity: Entity
    /// Quoted.
    let name: String
    /// Quoted, by field ordinal.
    let columns: [String]
    let indexes: [Index]
    /// Fields of any unique index.
    let uniqueFields: FieldMask
    /// Fields of any index, each once.
    let indexedFields: [Int]
    /// What the copying loops need to know about each column. Immutable from init to deinit, so reading it from any thread is safe.
    nonisolated(unsafe) let slots: UnsafeMutablePointer<ColumnSlot>

    /// `"objectID", "name", …`
    let selectList: String
    // The entity's, one step closer to the loops.
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
        slots = .allocate(capacity: max(entity.fields.count, 1))
        for field in entity.fields { (slots + field.ordinal).initialize(to: ColumnSlot(field)) }
        var unique = FieldMask()
        for index in indexes where index.isUnique { for field in index.fields { unique.insert(field) } }
        uniqueFields = unique
        indexedFields = Set(indexes.flatMap(\.fields)).sorted()
    }

    deinit { slots.deallocate() }

    /// Quoted.
    func column(_ field: FieldReference) -> String { field.isObjectID ? SQLNames.objectID : columns[field.ordinal] }

    var recordSQL: String { "SELECT \(selectList) FROM \(name) WHERE \(SQLNames.objectID) = ?" }
    var deleteSQL: String { "DELETE FROM \(name) WHERE \(SQLNames.objectID) = ?" }

    var insertSQL: String {
        "INSERT INTO \(name) (\(selectList)) VALUES (\(Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")))"
    }

    /// The fields first, the id last.
    func updateSQL(_ ordinals: [Int]) -> String {
        // Without any field it still tells whether the object is there.
        let set =
            ordinals.isEmpty ? "\(SQLNames.objectID) = \(SQLNames.objectID)" : ordinals.map { "\(columns[$0]) = ?" }.joined(separator: ", ")
        return "UPDATE \(name) SET \(set) WHERE \(SQLNames.objectID) = ?"
    }

    /// What makes the table and its indexes.
    var creationSQL: [String] {
        let declared = entity.fields.map { "\(columns[$0.ordinal]) \($0.type.physical.sqlType)" }
        let table = "CREATE TABLE \(name) (\((["\(SQLNames.objectID) INTEGER PRIMARY KEY"] + declared).joined(separator: ", ")))"
        return [table] + indexSQL
    }

    /// What makes its indexes.
    var indexSQL: [String] {
        indexes.map { index in
            let fields = index.fields.map { columns[$0] }.joined(separator: ", ")
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

/// One column, as the loops that copy rows see it.
struct ColumnSlot {
    let physical: PhysicalType
    let isOptional: Bool
    let isUUID: Bool
    let lowest: Int64
    let highest: Int64

    init(_ field: Field) {
        physical = field.type.physical
        isOptional = field.isOptional
        isUUID = field.type == .uuid
        let bounds = field.type.integerBounds ?? Int64.min...Int64.max
        lowest = bounds.lowerBound
        highest = bounds.upperBound
    }
}
