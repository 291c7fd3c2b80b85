import PolyStoreBackend

/// A call of a function that reads a field of a JSON document.
enum JSONFunction {
    /// Returns the end of the function's name; nil for a type that the functions do not read.
    private static func suffix(_ type: AttributeType) -> String? {
        switch type {
        case .string, .url: "text"
        case .bool: "boolean"
        case .int64: "integer"
        case .double, .date: "real"
        case .uuid: "uuid"
        default: nil
        }
    }

    /// Returns whether the functions read a field as its type.
    static func reads(_ field: JSONField) -> Bool {
        guard case .value(let type) = field.result else { return false }
        return suffix(type) != nil
    }

    /// Returns a call; nil for a field that the functions do not read. The keys are literals: PostgreSQL uses an index only for an equal call.
    static func call(_ column: String, _ field: JSONField, in namespace: String) -> String? {
        guard case .value(let type) = field.result, let suffix = suffix(type) else { return nil }
        let call = "\(namespace).polystore_json_\(suffix)(\(column), \(array(field.keys)))"
        return suffix == "text" ? "(\(call) COLLATE \"C\")" : call
    }

    /// Returns a test whether an array has an element; nil for a type that the functions do not read.
    /// - Parameter element: The element in SQL.
    static func containing(_ column: String, _ keys: [String], _ type: AttributeType, _ element: String, in namespace: String) -> String? {
        suffix(type).map { "\(namespace).polystore_contains_\($0)(\(column), \(array(keys)), \(element))" }
    }

    private static func array(_ keys: [String]) -> String {
        "ARRAY[\(keys.map { SQLNames.literal(NULFreeText.encode($0)) }.joined(separator: ", "))]::text[]"
    }

    /// Returns the format of the values of a field.
    static func format(_ field: JSONField) -> ColumnFormat {
        ColumnFormat(field.type, isOptional: true)
    }
}
