import CSQLite
import PolyStoreBackend

/// Copies rows into records, one at a time, reusing the same memory.
struct RowReader {
    /// The stored form of a NaN.
    static let nanText = "NaN"

    private let arena = RecordArena(capacity: 512)

    /// Returns a record with every field null, for cursors that read only row ids.
    func empty(_ table: EntityTable) throws -> RecordView {
        var record = RowRecord(arena, table.layout)
        for field in 0..<table.fieldCount { record.setNull(field) }
        return try record.finish(arena, table.layout)
    }

    /// Reads the current row of a statement that selects the row id and then all fields.
    /// - Returns: a record that is valid until the next call.
    /// - Throws: `corrupt` for a value that does not fit its field.
    func read(_ handle: OpaquePointer, _ table: EntityTable) throws -> RecordView {
        let columnFormats = table.columnFormats
        let count = table.fieldCount
        var record = RowRecord(arena, table.layout)
        var field = 0
        while field < count {
            try Self.copy(field, Int32(truncatingIfNeeded: field &+ 1), handle, table, columnFormats + field, &record, arena)
            field &+= 1
        }
        return try record.finish(arena, table.layout)
    }

    /// Reads the current row of a statement that selects some fields only, in ascending order. The other fields are null.
    func read(_ handle: OpaquePointer, _ table: EntityTable, only fields: [Int]) throws -> RecordView {
        var record = RowRecord(arena, table.layout)
        var column = 0
        for field in 0..<table.fieldCount {
            if column < fields.count, fields[column] == field {
                column += 1
                try Self.copy(field, Int32(truncatingIfNeeded: column), handle, table, table.columnFormats + field, &record, arena)
            } else {
                record.setNull(field)
            }
        }
        return try record.finish(arena, table.layout)
    }

    /// Copies one column into the record.
    @inline(__always)
    private static func copy(
        _ field: Int, _ column: Int32, _ handle: OpaquePointer, _ table: EntityTable, _ format: UnsafePointer<ColumnFormat>,
        _ record: inout RowRecord, _ arena: RecordArena
    ) throws {
        // Reading the value once saves a sixth of the time of a scan compared with repeated column calls. It is unsafe only if another thread uses the
        // connection concurrently, which never happens.
        let value = sqlite3_column_value(handle, column)
        switch (format.pointee.physical, sqlite3_value_type(value)) {
        case (.integer, SQLITE_INTEGER):
            let integer = sqlite3_value_int64(value)
            guard integer >= format.pointee.lowest, integer <= format.pointee.highest else { throw corrupt(handle, table, field, column) }
            record.setInteger(field, integer)
        case (.text, SQLITE_TEXT), (.blob, SQLITE_BLOB):
            // Reading text as a blob returns its stored bytes without a search for the terminator.
            let start = sqlite3_value_blob(value)
            let length = Int(sqlite3_value_bytes(value))
            if format.pointee.isUUID && length != 16 { throw corrupt(handle, table, field, column) }
            record.appendBytes(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length), arena)
        case (.real, SQLITE_FLOAT): record.setReal(field, sqlite3_value_double(value))
        default:
            if let real = try unusual(value, field, column, handle, table) { record.setReal(field, real) } else { record.setNull(field) }
        }
    }

    /// Converts a value that is not stored with the field's own type.
    /// - Returns: a real number; `nil` for no value.
    @inline(never)
    private static func unusual(
        _ value: OpaquePointer?, _ field: Int, _ column: Int32, _ handle: OpaquePointer, _ table: EntityTable
    ) throws -> Double? {
        switch (table.columnFormats[field].physical, sqlite3_value_type(value)) {
        case (_, SQLITE_NULL) where table.columnFormats[field].isOptional: return nil
        case (.real, SQLITE_INTEGER): return sqlite3_value_double(value)
        case (.real, SQLITE_TEXT) where isNaN(value): return .nan
        default: throw corrupt(handle, table, field, column)
        }
    }

    @inline(never)
    private static func isNaN(_ value: OpaquePointer?) -> Bool {
        guard let start = sqlite3_value_blob(value) else { return false }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value))).elementsEqual(nanText.utf8)
    }

    @inline(never)
    private static func corrupt(_ handle: OpaquePointer, _ table: EntityTable, _ fieldIndex: Int, _ column: Int32) -> StoreError {
        let field = table.entity.fields[fieldIndex]
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
            attribute: field.name, rowID: id)
    }
}
