import PolyStoreBackend

/// A value in a statement: a column, a parameter, or an expression that PostgreSQL evaluates as this library does.
struct Operand {
    let sql: String
    let type: AttributeType
    let form: ColumnFormat.Form
    /// A Boolean value that indicates whether the value can be NaN, which precedes every number here, and follows every number in PostgreSQL.
    let holdsNaN: Bool
    /// The field index, also of a field of JSON in an index; -1 for the row id, -2 for other values.
    var index = -2
    /// The name for errors.
    let name: String

    init(_ sql: String, _ type: AttributeType, name: String = "") {
        self.sql = sql
        self.type = type
        self.name = name
        let format = ColumnFormat(type, isOptional: true)
        form = format.form
        holdsNaN = format.holdsNaN
    }

    /// Creates the operand of a value within JSON, which is never NaN.
    init(_ sql: String, json type: AttributeType, index: Int, name: String) {
        self.sql = sql
        self.type = type
        self.index = index
        self.name = name
        form = ColumnFormat(type, isOptional: true).form
        holdsNaN = false
    }

    var isObjectID: Bool { index == -1 }

    /// The kinds of values. Values of one kind can be compared without a conversion.
    enum Kind { case integer, real, text, bytes, uuid, decimal }

    var kind: Kind {
        switch form {
        case .bool, .int2, .int4, .int8, .unsigned: .integer
        case .float4, .float8: .real
        case .text: .text
        case .bytes: .bytes
        case .uuid: .uuid
        case .decimal: .decimal
        }
    }

    /// The value as a number of the server.
    var number: String { form == .bool ? "\(sql)::integer" : sql }

    /// Returns whether a constant has the physical type of the value.
    func holds(_ value: Value) -> Bool {
        switch (value, type.physical) {
        case (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        default: false
        }
    }
}

extension QueryCompiler.Scope {
    /// Returns the operand of a field, also of a field of JSON in an index.
    func operand(_ field: FieldReference) -> Operand {
        if let indexed = table.entity.indexedJSON(at: field.index) {
            return Operand(table.value(field.index, in: alias), json: indexed.json.type, index: field.index, name: field.name)
        }
        var operand = Operand(column(field), field.isObjectID ? .int64 : field.type, name: field.name)
        operand.index = field.isObjectID ? -1 : field.index
        return operand
    }

    /// Returns the operand of a value within a JSON attribute; nil for one that the server does not read.
    func operand(_ json: JSONField, _ attribute: FieldReference) -> Operand? {
        guard let call = JSONFunction.call(column(attribute), json, in: table.namespace) else { return nil }
        let index = table.entity.indexedJSON.first { $0.attribute == attribute.index && $0.json == json }?.field.index
        return Operand(call, json: json.type, index: index ?? -2, name: ([attribute.name] + json.keys).joined(separator: "."))
    }
}
