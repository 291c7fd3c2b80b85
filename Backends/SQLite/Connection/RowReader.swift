import CSQLite
import PolyStoreBackend

/// Copies rows into records, one at a time in the same room.
struct RowReader {
    /// How a NaN is stored.
    static let nanText = "NaN"

    private let arena: RecordArena
    private var builder: RecordBuilder
    /// Whose layout the builder has.
    private var current: ObjectIdentifier?

    init() {
        arena = RecordArena(capacity: 512)
        builder = RecordBuilder(arena)
    }

    /// A record with every field null: for walks over ids.
    mutating func empty(_ table: EntityTable) throws -> RecordView {
        arena.removeAll()
        builder.begin(table.layout)
        current = ObjectIdentifier(table)
        return try builder.finishedView()
    }

    /// The row that a statement stands on: the id in column 0, then all fields.
    /// - Returns: the record, until the next call.
    /// - Throws: `corrupt` for a value that cannot be the field's.
    mutating func read(_ handle: OpaquePointer, _ table: EntityTable) throws -> RecordView {
        let slots = table.slots
        let count = table.fieldCount
        arena.removeAll()
        if current == ObjectIdentifier(table) {
            builder.restart()
        } else {
            builder.begin(table.layout)
            current = ObjectIdentifier(table)
        }
        var field = 0
        while field < count {
            try Self.copy(field, Int32(truncatingIfNeeded: field &+ 1), handle, table, slots[field], &builder)
            field &+= 1
        }
        return try builder.finishedView()
    }

    /// The same of a statement that selects some fields only; the others stay null.
    mutating func read(_ handle: OpaquePointer, _ table: EntityTable, only fields: [Int]) throws -> RecordView {
        arena.removeAll()
        builder.begin(table.layout)
        current = ObjectIdentifier(table)
        var column: Int32 = 1
        for field in fields {
            try Self.copy(field, column, handle, table, table.slots[field], &builder)
            column &+= 1
        }
        return try builder.finishedView()
    }

    /// One column into the record.
    @inline(__always)
    private static func copy(
        _ field: Int, _ column: Int32, _ handle: OpaquePointer, _ table: EntityTable, _ slot: ColumnSlot, _ builder: inout RecordBuilder
    ) throws {
        // Asking the value itself saves a sixth of the time of a walk over asking for the column by number again and again. It is unsafe
        // only where another thread uses the connection meanwhile, and none does.
        let value = sqlite3_column_value(handle, column)
        switch (slot.physical, sqlite3_value_type(value)) {
        case (.integer, SQLITE_INTEGER):
            let integer = sqlite3_value_int64(value)
            guard integer >= slot.lowest, integer <= slot.highest else { throw corrupt(handle, table, field, column) }
            builder.setInteger(field, integer)
        case (.text, SQLITE_TEXT), (.blob, SQLITE_BLOB):
            // Asked for as a blob, text comes as it is stored, without a search for its end.
            let start = sqlite3_value_blob(value)
            let length = Int(sqlite3_value_bytes(value))
            if slot.isUUID && length != 16 { throw corrupt(handle, table, field, column) }
            builder.setBytes(field, UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length))
        case (.real, SQLITE_FLOAT), (.real, SQLITE_INTEGER): builder.setReal(field, sqlite3_value_double(value))
        case (_, SQLITE_NULL): guard slot.isOptional else { throw corrupt(handle, table, field, column) }
        case (.real, SQLITE_TEXT):
            guard isNaN(value) else { throw corrupt(handle, table, field, column) }
            builder.setReal(field, .nan)
        default: throw corrupt(handle, table, field, column)
        }
    }

    @inline(never)
    private static func isNaN(_ value: OpaquePointer?) -> Bool {
        guard let start = sqlite3_value_blob(value) else { return false }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))).elementsEqual(nanText.utf8)
    }

    @inline(never)
    private static func corrupt(_ handle: OpaquePointer, _ table: EntityTable, _ ordinal: Int, _ column: Int32) -> StoreError {
        let field = table.entity.fields[ordinal]
        let id = sqlite3_column_int64(handle, 0)
        let found =
            switch sqlite3_column_type(handle, column) {
            case SQLITE_NULL: "no value, and it is not optional"
            case SQLITE_INTEGER: "the integer \(sqlite3_column_int64(handle, column))"
            case SQLITE_FLOAT: "the real number \(sqlite3_column_double(handle, column))"
            case SQLITE_TEXT: "text of \(sqlite3_column_bytes(handle, column)) bytes"
            default: "a blob of \(sqlite3_column_bytes(handle, column)) bytes"
            }
        return StoreError(
            .corrupt, "\(table.entity.name).\(field.name) (\(field.type)) of object \(id) holds \(found).", entity: table.entity.name,
            attribute: field.name, objectID: id)
    }
}
