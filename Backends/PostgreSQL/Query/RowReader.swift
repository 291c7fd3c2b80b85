import CPostgreSQL
import PolyStoreBackend
import PolyStorePlatform

/// Copies rows into records, one at a time, reusing the same memory.
struct RowReader {
    private let arena = RecordArena(capacity: 512)

    /// Returns a record with every field null, for cursors that read only row ids.
    func empty(_ table: EntityTable) throws -> RecordView {
        var record = RowRecord(arena, table.entity.layout)
        for field in table.formats.indices { record.setNull(field) }
        return try record.finish(arena, table.entity.layout)
    }

    /// Reads a row of a result with the row id and then the fields, in ascending order.
    /// - Parameter fields: The indexes of the selected fields, in ascending order; nil for all. The others are null.
    /// - Returns: A record that is valid until the next call.
    /// - Throws: `corrupt` for a value that does not fit its field.
    func read(_ rows: Rows, _ row: Int, _ table: EntityTable, fields: [Int]?) throws -> RecordView {
        try table.readings.withUnsafeBufferPointer { try read(rows.handle, Int32(row), table, $0, fields) }
    }

    private func read(
        _ rows: OpaquePointer, _ row: Int32, _ table: EntityTable, _ readings: UnsafeBufferPointer<ColumnFormat.Reading>, _ fields: [Int]?
    ) throws -> RecordView {
        var record = RowRecord(arena, table.entity.layout)
        var column = 0
        for field in readings.indices {
            if let fields {
                guard column < fields.count, fields[column] == field else {
                    record.setNull(field)
                    continue
                }
            }
            column += 1
            let count = PQgetlength(rows, row, Int32(truncatingIfNeeded: column))
            if count == 0, PQgetisnull(rows, row, Int32(truncatingIfNeeded: column)) != 0 {
                guard readings[field].isOptional else { throw corrupt(rows, row, table, field, "no value, and it is not optional") }
                record.setNull(field)
                continue
            }
            let bytes = UnsafeRawBufferPointer(start: PQgetvalue(rows, row, Int32(truncatingIfNeeded: column)), count: Int(count))
            guard copy(bytes, readings[field], field, &record) else {
                throw corrupt(rows, row, table, field, "a value of \(count) bytes that does not fit")
            }
        }
        return try record.finish(arena, table.entity.layout)
    }

    /// - Returns: `false` for bytes that are not a value of the format.
    @inline(__always)
    private func copy(
        _ bytes: UnsafeRawBufferPointer, _ reading: ColumnFormat.Reading, _ field: Int, _ record: inout RowRecord
    ) -> Bool {
        let value: Int64
        switch (reading.form, bytes.count) {
        case (.bool, 1): value = bytes[0] == 0 ? 0 : 1
        case (.int2, 2): value = Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.int4, 4): value = Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int8, 8): value = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        default: return copyOther(bytes, reading, field, &record)
        }
        guard reading.bounds.contains(value) else { return false }
        record.setInteger(field, value)
        return true
    }

    /// Copies a value that is not an integer with a sign.
    private func copyOther(
        _ bytes: UnsafeRawBufferPointer, _ reading: ColumnFormat.Reading, _ field: Int, _ record: inout RowRecord
    ) -> Bool {
        switch (reading.form, bytes.count) {
        case (.unsigned, _):
            guard let value = Numeric.unsigned(bytes) else { return false }
            record.setInteger(field, Int64(bitPattern: value))
        case (.decimal, _):
            guard let decimal = Numeric.orderedBytes(bytes) else { return false }
            decimal.withUnsafeBytes { record.appendBytes($0, arena) }
        case (.float4, 4): record.setReal(field, Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))))
        case (.float8, 8): record.setReal(field, Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
        case (.text, _):
            // Text of PostgreSQL has no NUL.
            guard let start = bytes.baseAddress, memchr(start, 1, bytes.count) != nil else {
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

    private func corrupt(_ rows: OpaquePointer, _ row: Int32, _ table: EntityTable, _ field: Int, _ found: String) -> StoreError {
        let bytes = UnsafeRawBufferPointer(start: PQgetvalue(rows, row, 0), count: Int(PQgetlength(rows, row, 0)))
        let id = bytes.count == 8 ? Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) : 0
        let field = table.entity.fields[field]
        return StoreError(
            .corrupt, "\(table.entity.name).\(field.name) (\(field.type)) of object \(id) holds \(found).", entity: table.entity.name,
            attribute: field.name, rowID: id)
    }
}
