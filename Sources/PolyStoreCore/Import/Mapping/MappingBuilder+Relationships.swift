public import PolyStoreFormats

// Relationships that are read from the fields of records: unique ids of targets, or nested objects.

extension MappingBuilder where Source == SourceRecord {
    /// Makes a to-one relationship lead to the object whose unique id a field has. Null makes it nil, and where the record has no such field it stays
    /// unchanged. The object may be imported later in the same transaction; see ``Transaction/reference(_:uniqueID:ifMissing:)``.
    /// - Parameters:
    ///   - into: the store of the target, where several hold its entity.
    ///   - ifMissing: what happens where no such object exists.
    public func relationship<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Target?>, from field: String? = nil, into: Into<Target> = Into(),
        ifMissing: MissingReference = .fail
    ) -> Self where Target.UniqueIDType: ConvertibleFromSource {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) {
            record, object, transaction, options in
            guard record.value(at: property.field) != nil else { return }
            let id = try record.optional(property.field, as: Target.UniqueIDType.self, options: options)
            try transaction.reference(into, uniqueID: id, ifMissing: ifMissing).assign(to: property.path, on: object)
        }
    }

    /// Makes a to-many relationship lead to the objects whose unique ids a field has: an array, or a text whose parts a separator separates. Null empties it, and
    /// where the record has no such field it stays unchanged.
    public func relationship<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Set<Target>>, from field: String? = nil, separator: Character? = nil,
        into: Into<Target> = Into(), ifMissing: MissingReference = .fail
    ) -> Self where Target.UniqueIDType: ConvertibleFromSource {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) {
            record, object, transaction, options in
            guard let ids: [Target.UniqueIDType] = try record.list(property.field, separator, options) else { return }
            try transaction.references(into, uniqueIDs: ids, ifMissing: ifMissing).assign(to: property.path, on: object)
        }
    }

    /// Makes an ordered to-many relationship lead to the objects whose unique ids a field has, in their order.
    public func relationship<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, [Target]>, from field: String? = nil, separator: Character? = nil,
        into: Into<Target> = Into(), ifMissing: MissingReference = .fail
    ) -> Self where Target.UniqueIDType: ConvertibleFromSource {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) {
            record, object, transaction, options in
            guard let ids: [Target.UniqueIDType] = try record.list(property.field, separator, options) else { return }
            try transaction.references(into, uniqueIDs: ids, ifMissing: ifMissing).assign(to: property.path, on: object)
        }
    }

    /// Imports the object in a field, and makes a to-one relationship lead to it.
    public func nested<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Target?>, from field: String? = nil, into: Into<Target> = Into()
    ) -> Self where Target.ImportSource == SourceRecord {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) { record, object, transaction, _ in
            guard record.value(at: property.field) != nil else { return }
            let nested = try record.nested(property.field)
            try transaction.reference(into, importing: nested).assign(to: property.path, on: object)
        }
    }

    /// Imports the array of objects in a field, and makes a to-many relationship lead to them.
    public func nested<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Set<Target>>, from field: String? = nil, into: Into<Target> = Into()
    ) -> Self where Target.ImportSource == SourceRecord {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) { record, object, transaction, _ in
            guard record.value(at: property.field) != nil else { return }
            try transaction.references(into, importing: record.nestedList(property.field)).assign(to: property.path, on: object)
        }
    }

    /// Imports the array of objects in a field, and makes an ordered to-many relationship lead to them, in their order.
    public func nested<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, [Target]>, from field: String? = nil, into: Into<Target> = Into()
    ) -> Self where Target.ImportSource == SourceRecord {
        let property = Property(path, field)
        return adding(property.field, property.name + " → " + Target._$entityName, isRequired: false) { record, object, transaction, _ in
            guard record.value(at: property.field) != nil else { return }
            try transaction.references(into, importing: record.nestedList(property.field)).assign(to: property.path, on: object)
        }
    }
}

extension SourceRecord {
    /// The elements of a field; nil where the record has no such field.
    fileprivate func list<T: ConvertibleFromSource>(_ field: String, _ separator: Character?, _ options: ConversionOptions) throws -> [T]? {
        guard let value = value(at: field) else { return nil }
        if value.isNull { return [] }
        guard let separator, let text = value.string else { return try require(field, as: [T].self, options: options) }
        let parts = text.split(separator: separator).map { JSONValue.string(trimmed($0)) }
        return try transformed(parts, self, field) { try $0.map { try T(source: $0, options: options) } }
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }

    /// The object in a field, as a record at the position of this one; nil for null.
    fileprivate func nested(_ field: String) throws -> SourceRecord? {
        try optional(field, as: JSONObject.self).map { SourceRecord(fields: $0, position: position, isUntyped: isUntyped) }
    }

    fileprivate func nestedList(_ field: String) throws -> [SourceRecord] {
        try (optional(field, as: [JSONObject].self) ?? []).map { SourceRecord(fields: $0, position: position, isUntyped: isUntyped) }
    }
}
