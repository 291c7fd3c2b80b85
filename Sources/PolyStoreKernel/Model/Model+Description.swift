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
        return (try? withRecord { $1.namedValues($0, $1.listedFields(of: Self.self), _$state.context.table) }) ?? []
    }

    /// Calls a closure with a record of the current values, including pending changes, and the description of the object's entity.
    /// - Throws: `notFound` if the object is not in the store and its values were never read, `invalidValue` for a value that cannot be stored.
    package func withRecord<R>(_ body: (RecordView, StoreEntity) throws -> R) throws -> R {
        if _$state.isFault { _$fire() }
        _$state.context.settleMembers()
        let entry = _$state.context.entry(_$state.entityIndex)
        guard !_$state.flags.contains(.missing) else {
            throw StoreError(
                .notFound, "The values of \(objectID) cannot be read: the store contains no such object.", entity: Self._$entityName,
                rowID: _$state.rowID, location: entry.store.location)
        }
        let arena = RecordArena(capacity: 512)
        var builder = RecordBuilder(arena)
        builder.begin(entry.entity.layout)
        try entry.encode(self, into: &builder)
        return try withExtendedLifetime(arena) { try body(builder.finishedView(), entry) }
    }
}

extension StoreEntity {
    /// Returns the fields of a class that descriptions list: those of attributes and to-one relationships, without hidden positions of ordered relationships.
    package func listedFields(of type: any Model.Type) -> [Field] {
        let declared = fields(of: type)
        return entity.fields.filter { !$0.isHidden && declared.contains($0.index) }
    }

    /// Returns the values of fields by stored name, in the order of the fields. A value that cannot be decoded is missing.
    package func namedValues(_ record: RecordView, _ fields: [Field], _ table: StoreTable) -> [(name: String, value: QueryValue?)] {
        fields.map { field in
            if let relationship = field.relationship, !record.isNull(field.index) {
                let target = table.entries[Int(destinations[relationship])]
                return (field.name, .objectID(AnyObjectID(entry: target, rowID: record.integer64(field.index))))
            }
            return (field.name, (try? QueryValue(record.value(field), field.type)) ?? nil)
        }
    }
}

extension QueryValue {
    /// The value in descriptions of objects: texts in quotes and truncated, data as its size.
    package var listing: String {
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
