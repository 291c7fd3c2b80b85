import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel

// Mappings from fields of records to relationships: unique ids of targets, or nested objects.

extension MappingBuilder where Source == SourceRecord {
    /// Sets a relationship to the objects whose unique ids are in a field: one id for a to-one relationship, otherwise an array, or a text that contains ids
    /// with a separator.
    ///
    /// Null clears the relationship; if the record does not have the field, it stays unchanged. The objects may be imported later in the same transaction;
    /// see ``Transaction/reference(_:uniqueID:ifMissing:)``.
    /// - Parameters:
    ///   - path: The relationship.
    ///   - field: The name or path of the field; the default is the name of the relationship.
    ///   - separator: The separator of the ids in a text, as in CSV.
    ///   - into: The store of the objects, if several stores hold their entity.
    ///   - ifMissing: The behavior if an object does not exist.
    public func relationship<R: MappableRelationship & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, R>, from field: String? = nil, separator: Character? = nil, into: Into<R.Target> = Into(),
        ifMissing: MissingReference = .fail
    ) -> Self where R.Target.UniqueIDType: ConvertibleFromSource {
        let property = Property(path, field)
        return adding(property.field, "\(property.name) → \(R.Target._$entityName)", isRequired: false) {
            record, object, transaction, options in
            guard let value = record.value(at: property.field) else { return }
            let ids: [R.Target.UniqueIDType]
            if R._$isToMany {
                ids = try record.elements(value, property.field, separator, options)
            } else {
                ids = value.isNull ? [] : [try record.require(property.field, options: options)]
            }
            try R._$assign(transaction.references(into, uniqueIDs: ids, ifMissing: ifMissing), to: property.path, on: object)
        }
    }

    /// Imports the object or the array of objects in a field and sets a relationship to them. Null clears the relationship; if the record does not have
    /// the field, it stays unchanged.
    public func nested<R: MappableRelationship & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, R>, from field: String? = nil, into: Into<R.Target> = Into()
    ) -> Self where R.Target.ImportSource == SourceRecord {
        let property = Property(path, field)
        return adding(property.field, "\(property.name) → \(R.Target._$entityName)", isRequired: false) {
            record, object, transaction, options in
            guard let value = record.value(at: property.field) else { return }
            let nested: [JSONObject]
            if R._$isToMany {
                nested = try record.elements(value, property.field, nil, options)
            } else {
                nested = value.isNull ? [] : [try record.require(property.field, options: options)]
            }
            let records = nested.map { SourceRecord(fields: $0, position: record.position, isUntyped: record.isUntyped) }
            try R._$assign(transaction.references(into, importing: records), to: property.path, on: object)
        }
    }
}

extension SourceRecord {
    fileprivate func elements<T: ConvertibleFromSource>(
        _ value: JSONValue, _ field: String, _ separator: Character?, _ options: ConversionOptions
    ) throws -> [T] {
        if value.isNull { return [] }
        guard let separator, let text = value.string else { return try require(field, as: [T].self, options: options) }
        let parts = text.split(separator: separator).map { JSONValue.string(trimmed($0)) }
        return try converted(parts, self, field) { try $0.map { try T(source: $0, options: options) } }
    }

    private func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first?.isWhitespace ?? false { text.removeFirst() }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return String(text)
    }
}
