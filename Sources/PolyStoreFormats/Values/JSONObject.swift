/// The fields of an object in source order, with unique names.
///
/// Two objects are equal if they have the same fields with equal values, in any order. A field lookup takes a few comparisons in objects of
/// up to 12 fields and one hash in larger ones. Objects of one reader with the same fields share their names.
public struct JSONObject: Sendable {
    private(set) var fieldNames: FieldNames
    private(set) var fieldValues: [JSONValue]

    /// Creates an object without fields.
    public init() {
        fieldNames = .empty
        fieldValues = []
    }

    /// - Parameter values: One value per name.
    init(names: FieldNames, values: [JSONValue]) {
        fieldNames = names
        fieldValues = values
    }

    /// Creates an object from fields in order. If several fields have the same name, the last value is kept, at the position of the first.
    public init(_ fields: some Sequence<(String, JSONValue)>) {
        self.init()
        for (name, value) in fields { self[name] = value }
    }

    /// Creates an object from a dictionary, sorted by name.
    public init(_ fields: [String: JSONValue]) {
        self.init(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }

    /// The names in order.
    public var names: [String] { fieldNames.list }

    /// The values in order.
    public var values: [JSONValue] { fieldValues }

    /// The value of the field `name`, or nil if it does not exist. Assigning nil removes the field; a new field is appended.
    public subscript(name: String) -> JSONValue? {
        get {
            guard let position = fieldNames.position(of: name) else { return nil }
            return fieldValues[position]
        }
        set {
            switch (fieldNames.position(of: name), newValue) {
            case (let position?, let value?): fieldValues[position] = value
            case (let position?, nil):
                makeNamesUnique()
                fieldNames.remove(at: position)
                fieldValues.remove(at: position)
            case (nil, let value?):
                makeNamesUnique()
                fieldNames.append(name)
                fieldValues.append(value)
            case (nil, nil): break
            }
        }
    }

    private mutating func makeNamesUnique() {
        if !isKnownUniquelyReferenced(&fieldNames) { fieldNames = fieldNames.copy() }
    }

    /// Returns the value of a field, or of a field of a nested object or array: `name`, `address.city`, `tags.0`.
    ///
    /// A field whose name equals the whole path takes precedence.
    public func value(at path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.firstIndex(of: "."), let first = self[String(path[..<dot])] else { return nil }
        return first.value(at: String(path[path.index(after: dot)...]))
    }

    /// The fields as a dictionary.
    public var dictionary: [String: JSONValue] {
        Dictionary(zip(fieldNames.list, fieldValues)) { first, _ in first }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { fieldValues.count }
    /// The field at `position`.
    public subscript(position: Int) -> (key: String, value: JSONValue) { (fieldNames.list[position], fieldValues[position]) }
}

extension JSONObject: ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Creates an object. If several fields have the same name, the last value is kept.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }

    /// The object as compact JSON.
    public var description: String { JSONText.compact(.object(self)) }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        if left.fieldNames === right.fieldNames { return left.fieldValues == right.fieldValues }
        return left.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        // The hash must not depend on the order.
        var sum = 0
        for (key, value) in self {
            var field = Hasher()
            field.combine(key)
            field.combine(value)
            sum &+= field.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject {
    /// Creates an object that shares the names of another one.
    ///
    /// - Parameter values: One value per name, in order.
    package init(namesOf template: JSONObject, values: [JSONValue]) { self.init(names: template.fieldNames, values: values) }
}
