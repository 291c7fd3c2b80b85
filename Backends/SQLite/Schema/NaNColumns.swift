import PolyStoreBackend

/// The columns that hold, or once held, a NaN.
///
/// SQLite converts a bound NaN to null. A NaN is therefore stored as the text `NaN`, which SQLite orders after all numbers although NaN sorts before them.
/// Queries on the columns listed here correct the order; queries on other columns need no correction. A listed column is never removed.
struct NaNColumns {
    /// The fields with NaN of each entity, by ``Entity/index``.
    private(set) var masks: [FieldMask]
    /// The stored form: `"Entity"."column"`, separated by commas; empty for none.
    private(set) var text: [UInt8] = []

    init(entities: Int) { masks = Array(repeating: FieldMask(), count: entities) }

    func contains(_ field: FieldReference, of entity: Int) -> Bool { !field.isObjectID && masks[entity].contains(field.ordinal) }

    mutating func insert(_ fieldIndex: Int, of table: EntityTable) {
        guard !masks[table.entity.index].contains(fieldIndex) else { return }
        masks[table.entity.index].insert(fieldIndex)
        if !text.isEmpty { text.append(UInt8(ascii: ",")) }
        text += Self.name(fieldIndex, table).utf8
    }

    /// Reads the stored names. Cheap if they have not changed.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ tables: StoreTables) {
        guard !text.elementsEqual(bytes) else { return }
        self = NaNColumns(entities: tables.entities.count)
        if bytes.isEmpty { return }
        text = [UInt8](bytes)
        let named = Set(Self.split(text))
        for table in tables.entities {
            for field in table.entity.fields where field.type.physical == .real {
                if named.contains([UInt8](Self.name(field.ordinal, table).utf8)) { masks[table.entity.index].insert(field.ordinal) }
            }
        }
    }

    private static func name(_ fieldIndex: Int, _ table: EntityTable) -> String { "\(table.name).\(table.columns[fieldIndex])" }

    /// Splits the text at the commas outside quotes.
    private static func split(_ text: [UInt8]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var part: [UInt8] = []
        var isQuoted = false
        for byte in text {
            if byte == UInt8(ascii: ",") && !isQuoted {
                parts.append(part)
                part = []
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            part.append(byte)
        }
        parts.append(part)
        return parts
    }
}
