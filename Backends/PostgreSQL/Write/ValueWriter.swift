import PolyStoreBackend

/// Writes the values of records in PostgreSQL's binary format, as elements of arrays and as values of copied rows.
enum ValueWriter {
    /// Appends the value of a field with its size, or null.
    /// - Returns: `false` for null.
    /// - Throws: `constraint` for null in a required field, `invalidValue` for bytes that are not those of the field's type.
    @discardableResult
    static func append(
        _ field: Int, of record: RecordView, _ change: ChangeSet.Change, _ table: EntityTable, to buffer: ByteBuffer
    ) throws -> Bool {
        let format = table.readings[field]
        guard !record.isNull(field) else {
            guard format.isOptional else { throw required(change, table, field) }
            buffer.appendNull()
            return false
        }
        switch format.form {
        case .bool: buffer.append(size: 1) { $0.append(record.integer(field) == 0 ? 0 : 1 as UInt8) }
        case .int2: buffer.append(size: 2) { $0.append(Int16(truncatingIfNeeded: record.integer(field))) }
        case .int4: buffer.append(size: 4) { $0.append(Int32(truncatingIfNeeded: record.integer(field))) }
        case .int8: buffer.append(size: 8) { $0.append(record.integer(field)) }
        case .unsigned: buffer.append(sized: { Numeric.append(UInt64(bitPattern: record.integer(field)), to: $0) })
        case .decimal:
            var isDecimal = false
            buffer.append(sized: { isDecimal = Numeric.append(decimal: record.bytes(field), to: $0) })
            guard isDecimal else { throw invalid(change, table, field, "is not a decimal") }
        case .float4: buffer.append(size: 4) { $0.append(Float(record.real(field)).bitPattern) }
        case .float8: buffer.append(size: 8) { $0.append(record.real(field).bitPattern) }
        case .text: buffer.append(sized: { $0.appendNULFree(record.bytes(field)) })
        case .bytes: buffer.append(sized: { $0.append(record.bytes(field)) })
        case .uuid:
            guard record.bytes(field).count == 16 else { throw invalid(change, table, field, "is not a UUID of 16 bytes") }
            buffer.append(sized: { $0.append(record.bytes(field)) })
        }
        return true
    }

    private static func invalid(_ change: ChangeSet.Change, _ table: EntityTable, _ field: Int, _ what: String) -> StoreError {
        let name = table.entity.fields[field].name
        return StoreError(
            .invalidValue, "\(table.entity.name).\(name) of object \(change.rowID) \(what).", entity: table.entity.name, attribute: name,
            rowID: change.rowID)
    }

    /// Returns the error for a value with which the values of an object exceed a number of bytes.
    static func tooLarge(_ change: ChangeSet.Change, _ table: EntityTable, _ field: Int, _ limit: Int) -> StoreError {
        let name = table.entity.fields[field].name
        return StoreError(
            .invalidValue,
            "\(table.entity.name).\(name) of \(change.kind == .insert ? "a new object" : "object \(change.rowID)") is too large. A store on PostgreSQL supports up to \(limit) bytes in all "
                + "values of an object. Store a shorter value, or divide it among objects.", entity: table.entity.name, attribute: name,
            rowID: change.rowID)
    }

    private static func required(_ change: ChangeSet.Change, _ table: EntityTable, _ field: Int) -> StoreError {
        let name = table.entity.fields[field].name
        return StoreError(
            .constraint,
            "\(table.entity.name).\(name) of \(change.kind == .insert ? "a new object" : "object \(change.rowID)") has no value, and it is not optional.",
            entity: table.entity.name, attribute: name, rowID: change.rowID)
    }
}
