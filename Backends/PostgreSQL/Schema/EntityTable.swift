import PolyStoreBackend

/// The table of an entity: names and SQL, constant while the store is open.
final class EntityTable: Sendable {
    struct Index: Sendable {
        /// The `Index.name` in the model.
        let modelName: String
        /// The name on the server.
        let plainName: String
        /// The indexes of the fields. A field of JSON has an index after those of the record; see `IndexedJSONField`.
        let fields: [Int]
        let isUnique: Bool
    }

    let entity: Entity
    /// The name on the server.
    let plainName: String
    /// The quoted name with the schema.
    let name: String
    /// The names of the columns on the server, by field index.
    let plainColumns: [String]
    /// The quoted names of the columns, by field index.
    let columns: [String]
    let formats: [ColumnFormat]
    /// The information for reading and writing the values of the columns, by field index.
    let readings: [ColumnFormat.Reading]
    /// The quoted name of the schema.
    let namespace: String
    let indexes: [Index]
    /// The fields of all unique indexes.
    let uniqueFields: FieldMask
    /// The number of characters or bytes of each field that the plain indexes contain; nil for the whole value.
    let prefixes: [Int?]
    /// The fields that only unique indexes contain. NaN and nulls are last in these, because they belong to constraints.
    let uniqueOnly: FieldMask
    /// Those of ``uniqueOnly`` that are the first field of an index.
    let uniquelyOrdered: FieldMask
    /// The fields that are never null.
    let required: FieldMask
    /// A Boolean value that indicates whether an attribute has the type `Data`.
    var hasData: Bool { formats.contains { $0.form == .bytes } }
    /// The name of the primary key.
    let keyName: String
    /// The statements that write rows.
    let texts = WriteTexts()
    /// The statement that reads the record with a row id.
    let recordSQL: String
    /// The statement that fails with ``ChangeWriter/wrongCount`` unless a number of different row ids exist.
    let requiringSQL: String

    init(_ entity: Entity, schema: String, plainName: String, keyName: String, indexes: [Index]) {
        self.entity = entity
        namespace = schema
        self.plainName = plainName
        self.keyName = keyName
        name = "\(schema).\(SQLNames.quoted(plainName))"
        var names = SQLNameSpace(isReserved: SQLNames.isSystemColumn)
        // Sorted, because the order of the fields may differ between launches.
        var plainColumns = [String](repeating: "", count: entity.fields.count)
        for field in entity.fields.sorted(by: { ($0.isHidden ? 1 : 0, $0.name, $0.index) < ($1.isHidden ? 1 : 0, $1.name, $1.index) }) {
            plainColumns[field.index] = names.claim(field.name)
        }
        self.plainColumns = plainColumns
        columns = plainColumns.map { SQLNames.quoted($0) }
        let formats = entity.fields.map { ColumnFormat($0) }
        self.formats = formats
        readings = formats.map(\.reading)
        recordSQL = "SELECT \(([SQLNames.objectID] + columns).joined(separator: ", ")) FROM \(name) WHERE \(SQLNames.objectID) = $1"
        requiringSQL =
            "SELECT 1 / (CASE WHEN count(*) = $2::bigint THEN 1 ELSE 0 END) FROM \(name) WHERE \(SQLNames.objectID) = ANY($1::bigint[])"
        self.indexes = indexes
        var unique = FieldMask()
        for index in indexes where index.isUnique { for field in index.fields { unique.insert(field) } }
        uniqueFields = unique
        var plain = FieldMask()
        for index in indexes where !index.isUnique { for field in index.fields where field < formats.count { plain.insert(field) } }
        var (uniqueOnly, uniquelyOrdered, required) = (FieldMask(), FieldMask(), FieldMask())
        for field in formats.indices where !formats[field].isOptional { required.insert(field) }
        for field in formats.indices where unique.contains(field) && !plain.contains(field) {
            uniqueOnly.insert(field)
            if indexes.contains(where: { $0.isUnique && $0.fields.first == field }) { uniquelyOrdered.insert(field) }
        }
        self.uniqueOnly = uniqueOnly
        self.uniquelyOrdered = uniquelyOrdered
        self.required = required
        let forms = formats.map(\.form) + entity.indexedJSON.map { JSONFunction.format($0.json).form }
        var prefixes = [Int?](repeating: nil, count: forms.count)
        for index in indexes where !index.isUnique {
            let long = index.fields.filter { [.text, .bytes].contains(forms[$0]) }
            // An entry of an index has at most 2,704 bytes, and a character at most four.
            for field in long {
                let length = (forms[field] == .text ? 600 : 2400) / long.count
                prefixes[field] = min(prefixes[field] ?? length, length)
            }
        }
        self.prefixes = prefixes
    }

    /// Returns the beginning of a text or of data, which an index contains in place of the whole value, as the value itself may be too long for one.
    /// - Returns: nil for a field that no index contains in this form.
    func prefix(of value: String, _ field: Int) -> String? {
        guard field >= 0, let length = prefixes[field] else { return nil }
        return format(field).form == .text ? "left(\(value), \(length))" : "substring(\(value) from 1 for \(length))"
    }

    /// Returns whether a text or data are shorter than the beginnings of values that an index contains. A value compares with them as its beginning does.
    func isShort(_ value: Value, _ field: Int) -> Bool {
        guard field >= 0, let length = prefixes[field] else { return false }
        return switch value {
        // A character can be stored as two.
        case .text(let text): text.utf8.count < length / 2
        case .blob(let bytes): bytes.count < length
        default: false
        }
    }

    /// Returns the format of a field, also of a field of JSON in an index.
    func format(_ field: Int) -> ColumnFormat {
        entity.indexedJSON(at: field).map { JSONFunction.format($0.json) } ?? formats[field]
    }

    /// Returns the value of a field in SQL, also of a field of JSON in an index.
    /// - Parameter alias: The name of the table in the statement; nil if the statement has one table.
    func value(_ field: Int, in alias: String? = nil) -> String {
        let prefix = alias.map { $0 + "." } ?? ""
        guard let indexed = entity.indexedJSON(at: field) else { return prefix + (field < 0 ? SQLNames.objectID : columns[field]) }
        return JSONFunction.call(prefix + columns[indexed.attribute], indexed.json, in: namespace) ?? "NULL"
    }

    /// The statement that creates the table.
    var tableSQL: String {
        let declared = entity.fields.map { "\(columns[$0.index]) \(formats[$0.index].definition)" }
        let key = "\(SQLNames.objectID) bigint CONSTRAINT \(SQLNames.quoted(keyName)) PRIMARY KEY"
        return "CREATE TABLE \(name) (\(([key] + declared).joined(separator: ", ")))"
    }

    /// Returns the statement that creates an index.
    ///
    /// A unique index is a constraint that can be deferred to the end of a change set. The others contain the row id, which is the last key of every order.
    func creationSQL(_ index: Index, schema: String) -> String {
        let quoted = SQLNames.quoted(index.plainName)
        if index.isUnique {
            let list = index.fields.map { columns[$0] }.joined(separator: ", ")
            return "ALTER TABLE \(name) ADD CONSTRAINT \(quoted) UNIQUE (\(list)) DEFERRABLE INITIALLY IMMEDIATE"
        }
        let values = index.fields.flatMap { field in
            let value = value(field)
            // An expression other than a call of a function needs parentheses, and a call can have them.
            if field >= columns.count { return [prefix(of: value, field) ?? "(\(value))"] }
            // As in orders.
            return (formats[field].holdsNaN ? ["(\(value) <> 'NaN')"] : []) + [prefix(of: value, field) ?? value]
        }
        let list = (values.map { $0 + " NULLS FIRST" } + [SQLNames.objectID]).joined(separator: ", ")
        return "CREATE INDEX \(quoted) ON \(name) (\(list))"
    }

    /// Returns the statement that removes an index.
    func removalSQL(_ index: Index, schema: String) -> String {
        let quoted = SQLNames.quoted(index.plainName)
        return index.isUnique
            ? "ALTER TABLE \(name) DROP CONSTRAINT IF EXISTS \(quoted)" : "DROP INDEX IF EXISTS \(schema).\(quoted)"
    }
}
