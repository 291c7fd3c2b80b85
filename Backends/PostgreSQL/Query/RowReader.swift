import PolyStoreBackend

/// Copies rows into records, one at a time, reusing the same memory.
struct RowReader {
    private let arena = RecordArena(capacity: 512)

    /// Returns a record with every field null, for cursors that read only row ids.
    func empty(_ table: EntityTable) throws -> RecordView {
        var record = RowRecord(arena, table.entity.layout)
        for field in table.formats.indices { record.setNull(field) }
        return try record.finish(arena, table.entity.layout)
    }

    /// Reads the first row of a result with the row id and then the fields, in ascending order.
    /// - Parameter fields: The indexes of the selected fields, in ascending order; nil for all. The others are null.
    /// - Returns: A record that is valid until the next call.
    /// - Throws: `corrupt` for a value that does not fit its field.
    func read(_ rows: Rows, _ table: EntityTable, fields: [Int]?) throws -> RecordView {
        var record = RowRecord(arena, table.entity.layout)
        var column = 0
        for field in table.formats.indices {
            if let fields {
                guard column < fields.count, fields[column] == field else {
                    record.setNull(field)
                    continue
                }
            }
            column += 1
            if rows.isNull(0, column) {
                guard table.formats[field].isOptional else { throw corrupt(rows, table, field, "no value, and it is not optional") }
                record.setNull(field)
            } else if !copy(rows.bytes(0, column), table.formats[field], field, &record) {
                throw corrupt(rows, table, field, "a value of \(rows.bytes(0, column).count) bytes that does not fit")
            }
        }
        return try record.finish(arena, table.entity.layout)
    }

    /// - Returns: `false` for bytes that are not a value of the format.
    private func copy(_ bytes: UnsafeRawBufferPointer, _ format: ColumnFormat, _ field: Int, _ record: inout RowRecord) -> Bool {
        func integer(_ value: Int64) -> Bool {
            guard format.bounds.contains(value) else { return false }
            record.setInteger(field, value)
            return true
        }
        switch (format.form, bytes.count) {
        case (.bool, 1): return integer(bytes[0] == 0 ? 0 : 1)
        case (.int2, 2): return integer(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
        case (.int4, 4): return integer(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        case (.int8, 8): return integer(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case (.unsigned, _):
            guard let value = Numeric.unsigned(bytes) else { return false }
            record.setInteger(field, Int64(bitPattern: value))
        case (.decimal, _):
            guard let decimal = Numeric.orderedBytes(bytes) else { return false }
            decimal.withUnsafeBytes { record.appendBytes($0, arena) }
        case (.float4, 4): record.setReal(field, Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))))
        case (.float8, 8): record.setReal(field, Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
        case (.text, _):
            guard bytes.holdsNULFreeEscapes else {
                record.appendBytes(bytes, arena)
                return true
            }
            guard let text = NULFreeText.decode(String(decoding: bytes, as: UTF8.self)) else { return false }
            Array(text.utf8).withUnsafeBytes { record.appendBytes($0, arena) }
        case (.bytes, _), (.uuid, 16): record.appendBytes(bytes, arena)
        default: return false
        }
        return true
    }

    private func corrupt(_ rows: Rows, _ table: EntityTable, _ field: Int, _ found: String) -> StoreError {
        let id = rows.integer(0, 0) ?? 0
        let field = table.entity.fields[field]
        return StoreError(
            .corrupt, "\(table.entity.name).\(field.name) (\(field.type)) of object \(id) holds \(found).", entity: table.entity.name,
            attribute: field.name, rowID: id)
    }
}
