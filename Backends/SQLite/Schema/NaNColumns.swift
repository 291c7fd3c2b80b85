import PolyStoreBackend

/// The columns that hold, or once held, a NaN.
///
/// SQLite turns a bound NaN into null. It is therefore kept as the text `NaN`, which SQLite orders after all numbers while it belongs
/// before them. Queries on the columns named here set that right; all others stay plain and fast. Names stay once they are in.
struct NaNColumns {
    /// By ``Entity/index``.
    private(set) var masks: [FieldMask]
    /// As in the store: `"Entity"."column"`, separated by commas; empty for none.
    private(set) var text: [UInt8] = []

    init(entities: Int) { masks = Array(repeating: FieldMask(), count: entities) }

    func contains(_ field: FieldReference, of entity: Int) -> Bool { !field.isObjectID && masks[entity].contains(field.ordinal) }

    mutating func insert(_ ordinal: Int, of table: EntityTable) {
        guard !masks[table.entity.index].contains(ordinal) else { return }
        masks[table.entity.index].insert(ordinal)
        if !text.isEmpty { text.append(UInt8(ascii: ",")) }
        text += Self.name(ordinal, table).utf8
    }

    /// What the store says now. Cheap where it says the same as before.
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

    private static func name(_ ordinal: Int, _ table: EntityTable) -> String { "\(table.name).\(table.columns[ordinal])" }

    /// At the commas outside quotes.
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
