import PolyStoreBackend

/// The columns with values that SQLite orders differently.
///
/// SQLite converts a bound NaN to null. A NaN is therefore stored as the text `NaN`, which SQLite orders after all numbers although NaN sorts before them. An
/// unsigned integer above `Int64.max` is stored as a negative integer, which SQLite orders before all others. Queries on these columns correct the order, and
/// no index can serve the corrected order; queries on other columns need no correction.
///
/// A column is listed in the file when the first such value is written, and is never removed from the list.
struct MisorderedColumns {
    /// The listed fields of each entity, by ``Entity/index``.
    private(set) var listed: [FieldMask]
    /// The unsigned fields of each entity for which it is unknown whether a value is above `Int64.max`: a store may hold values from before they were listed.
    private var unchecked: [FieldMask]
    /// The stored form: `"Entity"."column"`, separated by commas; empty for none.
    private(set) var text: [UInt8] = []

    init(_ tables: StoreTables) {
        listed = Array(repeating: FieldMask(), count: tables.entities.count)
        unchecked = listed
        for table in tables.entities {
            for field in table.entity.fields where field.type == .uint64 { unchecked[table.entity.index].insert(field.index) }
        }
    }

    /// Returns whether the order of a field must be corrected.
    func contains(_ field: FieldReference, of entity: Int) -> Bool {
        !field.isObjectID && (listed[entity].contains(field.index) || unchecked[entity].contains(field.index))
    }

    mutating func insert(_ fieldIndex: Int, of table: EntityTable) {
        guard !listed[table.entity.index].contains(fieldIndex) else { return }
        listed[table.entity.index].insert(fieldIndex)
        if !text.isEmpty { text.append(UInt8(ascii: ",")) }
        text += Self.name(fieldIndex, table).utf8
    }

    /// Reads the stored names. Cheap if they have not changed.
    mutating func read(_ bytes: UnsafeRawBufferPointer, _ tables: StoreTables) {
        guard !text.elementsEqual(bytes) else { return }
        listed = Array(repeating: FieldMask(), count: tables.entities.count)
        text = [UInt8](bytes)
        if bytes.isEmpty { return }
        let named = Set(Self.split(text))
        for table in tables.entities {
            for field in table.entity.fields where Self.canBeListed(field) {
                if named.contains([UInt8](Self.name(field.index, table).utf8)) { listed[table.entity.index].insert(field.index) }
            }
        }
    }

    /// Searches the leading unsigned columns of indexes for values above `Int64.max`, with one index search each. The order of other unsigned columns is always
    /// corrected, because no index serves it.
    mutating func check(_ connection: borrowing Connection) {
        for table in connection.tables.entities {
            for fieldIndex in Set(table.indexes.compactMap(\.components.first))
            where fieldIndex < table.fieldCount && table.entity.fields[fieldIndex].type == .uint64 {
                let index = table.indexes.first { $0.components.first == fieldIndex }?.name ?? ""
                let search =
                    "SELECT count(*) FROM (SELECT 1 FROM \(table.name) INDEXED BY \(index) WHERE \(table.columns[fieldIndex]) < 0 LIMIT 1)"
                // The statement fails if the index does not exist yet. Its creation changes the schema, so that the column is checked again.
                if let count = try? connection.integer(search), count == 0 {
                    unchecked[table.entity.index].remove(fieldIndex)
                } else {
                    unchecked[table.entity.index].insert(fieldIndex)
                }
            }
        }
    }

    /// Returns whether a field can have values that SQLite orders differently.
    static func canBeListed(_ field: Field) -> Bool { field.type.physical == .real || field.type == .uint64 }

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
