import CSQLite
import PolyStoreBackend
import PolyStoreQuery

/// A value within a JSON attribute of the object itself, which SQL evaluates.
struct StoredJSONField {
    let field: JSONField
    let attribute: FieldReference
    /// The index of the value among the fields of the entity, if it is a component of an index; see `IndexedJSONField`.
    let indexed: Int?
}

extension QueryExpression {
    /// The expression as a value within a JSON attribute of the object itself; nil for any other expression, and for unsigned integers, which SQL orders with a sign.
    func storedJSONField(_ table: EntityTable) -> StoredJSONField? {
        guard case .json(let field, let inner) = node, type != .uint64, let attribute = inner.asField else { return nil }
        return StoredJSONField(field: field, attribute: attribute, indexed: indexedJSON(of: table.entity)?.field.index)
    }
}

/// The SQL function that returns a value within a JSON attribute: the reader of the shared executor, so that both return the same value for every text.
///
/// SQLite's own functions fail for invalid JSON, end a text at the character U+0000, and do not distinguish `true` from 1.
///
/// The arguments are the JSON text, the number of the type, the keys, and, for a test of the elements of an array, the element.
enum JSONFieldFunction {
    private static let name = "polystore_json_field"
    /// The name in indexes. Files contain calls of it, so that neither the arguments nor the results may change.
    ///
    /// It is not the name of the function in conditions: earlier releases have that without the flag of an innocuous function, and SQLite would refuse to read the
    /// schema of the file. A function that they do not know does not prevent them from dropping the index.
    static let indexedName = "polystore_indexed_json"
    /// The types by number.
    static let types: [AttributeType] = [
        .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .date, .decimal, .string, .url, .json,
        .data,
        .uuid,
    ]
    /// The bit of a number that makes it a test of the elements of an array.
    private static let containsBit = 0x100
    /// The byte after each key; no byte of UTF-8 equals it.
    private static let terminator: UInt8 = 0xff
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)  // SQLITE_TRANSIENT, which C declares as a cast

    /// Returns the number of what a field determines, as an argument of the function.
    static func number(of field: JSONField) -> Int {
        switch field.result {
        case .value(let type): types.firstIndex(of: type) ?? 0
        case .contains(_, let type): (types.firstIndex(of: type) ?? 0) | containsBit
        }
    }

    private static func keys(of field: JSONField) -> [UInt8] {
        var keys: [UInt8] = []
        for key in field.keys {
            keys += key.utf8
            keys.append(terminator)
        }
        return keys
    }

    /// Returns the parameters of a call.
    static func bindings(of field: JSONField) -> [Binding] {
        let keys = keys(of: field)
        guard case .contains(let value, _) = field.result, let element = Binding(value) else { return [.blob(keys)] }
        return [.blob(keys), element]
    }

    /// Returns a call of the function, with parameters for the keys and the element.
    static func call(_ column: String, _ number: UInt32) -> String {
        "\(name)(\(column), \(number), \(Int(number) & containsBit == 0 ? "?" : "?, ?"))"
    }

    /// Returns a call with literals for the keys, as in the definition of an index: SQLite uses an index only for a call that is written equally.
    static func call(_ column: String, literally field: JSONField) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let keys = keys(of: field).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "\(indexedName)(\(column), \(number(of: field)), x'\(String(decoding: keys, as: UTF8.self))')"
    }

    /// A reader that the calls of one statement share.
    private final class Box {
        let reader: JSONFieldReader
        init(_ field: JSONField) { reader = JSONFieldReader(field) }
    }

    /// Registers the function with a connection, under both names.
    static func register(_ handle: OpaquePointer) -> Int32 {
        let code = register(handle, name, SQLITE_UTF8 | SQLITE_DETERMINISTIC)
        return code == SQLITE_OK ? register(handle, indexedName, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS) : code
    }

    private static func register(_ handle: OpaquePointer, _ name: String, _ flags: Int32) -> Int32 {
        sqlite3_create_function_v2(
            handle, name, -1, flags, nil,
            { context, count, arguments in
                guard let arguments, count >= 3, sqlite3_value_type(arguments[0]) == SQLITE_TEXT,
                    let json = sqlite3_value_text(arguments[0])
                else { return sqlite3_result_null(context) }
                let length = Int(sqlite3_value_bytes(arguments[0]))
                guard let reader = JSONFieldFunction.reader(context, count, arguments) else {
                    return sqlite3_result_error(context, "the type of a field of JSON is unknown", -1)
                }
                JSONFieldFunction.set(reader.value(in: UnsafeRawBufferPointer(start: json, count: length)), as: context)
            }, nil, nil, nil)
    }

    private static func reader(
        _ context: OpaquePointer?, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>
    ) -> JSONFieldReader? {
        // The arguments are parameters or literals, which do not change while a statement runs; SQLite discards the reader afterwards.
        if let known = sqlite3_get_auxdata(context, 2) { return Unmanaged<Box>.fromOpaque(known).takeUnretainedValue().reader }
        let number = Int(sqlite3_value_int(arguments[1]))
        // The number of an index is read from the file.
        guard types.indices.contains(number & 0xff), number & ~(containsBit | 0xff) == 0 else { return nil }
        let type = types[number & 0xff]
        let keys = bytes(arguments[2]).split(separator: terminator, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
        let result: JSONField.Result = number & containsBit != 0 && count > 3 ? .contains(value(arguments[3]), type) : .value(type)
        let box = Box(JSONField(keys, result))
        sqlite3_set_auxdata(context, 2, Unmanaged.passRetained(box).toOpaque()) { Unmanaged<Box>.fromOpaque($0!).release() }
        return box.reader
    }

    private static func bytes(_ value: OpaquePointer?) -> [UInt8] {
        let count = Int(sqlite3_value_bytes(value))
        guard count > 0, let bytes = sqlite3_value_blob(value) else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    private static func value(_ value: OpaquePointer?) -> Value {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: .real(sqlite3_value_double(value))
        case SQLITE_TEXT: .text(String(decoding: bytes(value), as: UTF8.self))
        case SQLITE_BLOB: .blob(bytes(value))
        default: .null
        }
    }

    private static func set(_ value: Value, as context: OpaquePointer?) {
        switch value {
        case .null: sqlite3_result_null(context)
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .real(let real): sqlite3_result_double(context, real)
        case .text(var text):
            text.withUTF8 { text in
                // An empty text has no address, which would be null.
                guard let start = text.baseAddress else { return sqlite3_result_text(context, "", 0, transient) }
                start.withMemoryRebound(to: CChar.self, capacity: text.count) {
                    sqlite3_result_text(context, $0, Int32(clamping: text.count), transient)
                }
            }
        case .blob(let blob):
            if blob.isEmpty { return sqlite3_result_zeroblob(context, 0) }
            sqlite3_result_blob(context, blob, Int32(clamping: blob.count), transient)
        }
    }
}

extension QueryCompiler {
    /// Appends a condition on a value within a JSON attribute.
    /// - Returns: `false` if the condition must remain in the residual predicate; nothing was appended then.
    mutating func condition(on value: StoredJSONField, _ predicate: QueryPredicate) -> Bool {
        switch predicate.node {
        case .compare(_, let comparison, let right):
            guard let constant = right.asConstant, right.type != .uint64 else { return false }
            if constant.isNull {
                append(ShapeWord(.unknown))
                return true
            }
            guard let binding = binding(constant, value) else { return false }
            append(value, ShapeWord(.compare, comparison: comparison.position))
            bind(binding)
        case .isNull: append(value, ShapeWord(.isNull))
        case .oneOf(_, let values):
            // Null in a list equals nothing.
            let constants = values.filter { !$0.isNull }
            let bindings = constants.compactMap { binding($0, value) }
            guard bindings.count == constants.count, bindings.count <= Self.mostListed else { return false }
            guard !bindings.isEmpty else {
                append(value, ShapeWord(.neverUnlessNull))
                return true
            }
            append(value, ShapeWord(.oneOf), count: bindings.count)
            for binding in bindings { bind(binding) }
        case .text(_, let operation, let right):
            guard case .text(let text)? = right.asConstant, operation != .like, operation != .matches else { return false }
            self.text(value, operation, text)
        default: return false
        }
        return true
    }

    private mutating func text(_ value: StoredJSONField, _ operation: TextOperator, _ text: String) {
        if text.isEmpty { return append(value, ShapeWord(.alwaysUnlessNull)) }
        switch operation {
        case .like, .matches: break  // residual
        case .beginsWith:
            var end = [UInt8](text.utf8)
            end[end.count - 1] += 1
            append(value, ShapeWord(.inRange))
            bind(.text(text))
            bindKeys(of: value)
            bind(.textBytes(end))
        case .contains:
            append(value, ShapeWord(.contains))
            bind(.blob([UInt8](text.utf8)))
        case .endsWith:
            append(value, ShapeWord(.endsWith))
            bindKeys(of: value)
            bind(.integer(-Int64(text.utf8.count)))
            bind(.blob([UInt8](text.utf8)))
        }
    }

    /// Binds the parameters of a call. The call of a component of an index has literals.
    private mutating func bindKeys(of value: StoredJSONField) {
        guard value.indexed == nil else { return }
        for binding in JSONFieldFunction.bindings(of: value.field) { bind(binding) }
    }

    /// Appends a test of a value, with the parameters of the first call. The test of a component of an index is one of a field.
    private mutating func append(_ value: StoredJSONField, _ test: ShapeWord, count: Int? = nil) {
        if let indexed = value.indexed {
            append(ShapeWord(test.operation, fieldIndex: indexed, comparison: test.comparison))
            if let count { append(count: count) }
            return
        }
        append(ShapeWord(.jsonField, fieldIndex: value.attribute.index))
        append(count: JSONFieldFunction.number(of: value.field))
        append(test)
        if let count { append(count: count) }
        bindKeys(of: value)
    }

    /// Returns a constant of the type of a value; nil for another type, and for NaN, which SQLite does not compare.
    private func binding(_ constant: Value, _ value: StoredJSONField) -> Binding? {
        switch (constant, value.field.type.physical) {
        case (.integer(let integer), .integer): .integer(integer)
        case (.real(let real), .real): real.isNaN ? nil : .real(Value.normalized(real))
        case (.text(let text), .text): .text(text)
        case (.blob(let blob), .blob): .blob(blob)
        default: nil
        }
    }
}
