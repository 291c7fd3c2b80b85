import PolyStoreBackend

extension Model {
    /// The object's entity, row id and values: `Person 12 (name: "Jane", age: 41, department: Department 3)`. A fault is not read and shows no values.
    ///
    /// A property of the model named `description` replaces it.
    public var description: String { listing }

    /// The same text as ``description``.
    public var debugDescription: String { listing }

    /// The object's id and values in the form that debuggers show. Faults are not read.
    public var customMirror: Mirror {
        let values = listedValues ?? []
        let children =
            [(label: Optional("objectID"), value: objectID as Any)] + values.map { ($0.name, $0.value.map { $0 as Any } ?? "nil") }
        return Mirror(self, children: children, displayStyle: .class)
    }

    private var listing: String {
        var notes: [String] = []
        if isDeleted { notes.append("deleted") }
        if let listedValues {
            notes += listedValues.map { "\($0.name): \($0.value.map(\.listing) ?? "nil")" }
        } else {
            notes.append("fault")
        }
        return notes.isEmpty ? "\(objectID)" : "\(objectID) (\(notes.joined(separator: ", ")))"
    }

    /// The values of attributes and to-one relationships; `nil` for a fault.
    private var listedValues: [(name: String, value: QueryValue?)]? {
        guard !isFault, !_$state.flags.contains(.missing) else { return nil }
        return (try? snapshot())?.namedValues ?? []
    }
}

extension QueryValue {
    /// The value in descriptions of objects: texts in quotes and truncated, data as its size.
    var listing: String {
        switch self {
        case .text(let text): text.count > 60 ? "\"\(text.prefix(60))…\"" : "\"\(text)\""
        case .data(let data): "\(data.count) bytes"
        case .objectID(let id): "\(id.entityName) \(id.rowID)"
        default: "\(self)"
        }
    }
}

extension DataStack: CustomStringConvertible {
    /// The schema and stores of the stack, one per line.
    public var description: String {
        let stores = stores.map { store in
            "\n  \(store.url) (\(store.configurationName.map { "configuration \"\($0)\"" } ?? "default configuration"), "
                + "\(store.schema.entities.count) entities)"
        }
        return "DataStack of the schema \"\(schema.name)\"" + (stores.isEmpty ? ", without stores" : stores.joined())
    }
}

extension PersistentStore: CustomStringConvertible {
    /// `engine:location`.
    public var description: String { url }
}

extension String {
    /// The stored name of a property of a model: `String(keyPath: \Person.age)` is `"age"`. `nil` for a path that is not a single stored property.
    public init?<T: Model, V>(keyPath: KeyPath<T, V>) {
        guard let name = T._$properties.knownName(keyPath) else { return nil }
        self = name
    }
}
