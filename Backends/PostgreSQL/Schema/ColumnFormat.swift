import PolyStoreBackend

/// How the values of a field are stored in a column.
///
/// A column has the type that a client of the database expects, as far as that type orders and compares the values as this library does. Text is encoded as `NULFreeText`.
/// The order of real numbers and decimals differs in NaN alone, which conditions and orders take into account.
struct ColumnFormat: Sendable {
    /// The form of a value in PostgreSQL's binary format.
    enum Form: Sendable { case bool, int2, int4, int8, unsigned, decimal, float4, float8, text, bytes, uuid }

    let form: Form
    let type: ParameterType
    let isOptional: Bool
    /// The bounds of integers.
    let bounds: ClosedRange<Int64>
    /// A Boolean value that indicates whether a value can be NaN, which precedes every number here, and follows every number in PostgreSQL.
    var holdsNaN: Bool { [.float4, .float8, .decimal].contains(form) }
    /// The definition of the column after its name.
    let definition: String

    /// The information for reading and writing a value. It contains no texts, so that a copy costs nothing.
    struct Reading: Sendable {
        let form: Form
        let isOptional: Bool
        let bounds: ClosedRange<Int64>
    }

    var reading: Reading { Reading(form: form, isOptional: isOptional, bounds: bounds) }

    init(_ field: Field) { self.init(field.type, isOptional: field.isOptional) }

    init(_ attribute: AttributeType, isOptional: Bool) {
        self.isOptional = isOptional
        bounds = attribute.integerBounds ?? Int64.min...Int64.max
        (form, type) =
            switch attribute {
            case .bool: (.bool, .bool)
            case .int8, .uint8, .int16: (.int2, .int2)
            case .uint16, .int32: (.int4, .int4)
            case .uint32, .int64: (.int8, .int8)
            case .uint64: (.unsigned, .numeric)
            case .float: (.float4, .float4)
            case .double, .date: (.float8, .float8)
            case .string, .url, .json: (.text, .text)
            case .data: (.bytes, .bytes)
            case .decimal: (.decimal, .numeric)
            case .uuid: (.uuid, .uuid)
            }
        definition =
            switch form {
            case .unsigned: "numeric(20, 0)"
            case .text: "text COLLATE \"C\""
            default: type.name
            }
    }
}
