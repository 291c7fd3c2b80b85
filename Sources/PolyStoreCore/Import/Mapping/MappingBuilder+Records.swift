public import PolyStoreFormats

// Attributes that are read from the fields of records.

extension MappingBuilder where Source == SourceRecord {
    /// Returns the mapping with other formats of dates, which are tried in order.
    public func dates(_ formats: DateFormats) -> Self {
        var copy = self
        copy._$steps.options.dates = formats
        return copy
    }

    /// Reads an attribute from a field. Every record must have the field, and its value must be of the attribute's type.
    /// - Parameters:
    ///   - path: the attribute.
    ///   - field: the name or path (`address.city`) of the field; the default is the stored name of the attribute.
    public func attribute<V: ConvertibleFromSource>(_ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: true) { record, object, _, options in
            object[keyPath: property.path] = try record.require(property.field, as: V.self, options: options)
        }
    }

    /// Reads an optional attribute from a field: null makes it nil, and where the record has no such field it stays unchanged.
    public func attribute<V: ConvertibleFromSource>(_ path: ReferenceWritableKeyPath<Object, V?>, from field: String? = nil) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: false) { record, object, _, options in
            guard let value = record.value(at: property.field) else { return }
            object[keyPath: property.path] = value.isNull ? nil : try record.require(property.field, as: V.self, options: options)
        }
    }

    /// Reads an attribute from a field. Where the record has no such field, or null, the attribute becomes the default.
    public func attribute<V: ConvertibleFromSource & Sendable>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil, default value: V
    ) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: false) { record, object, _, options in
            object[keyPath: property.path] = try record.optional(property.field, as: V.self, options: options) ?? value
        }
    }

    /// Reads an attribute from a field by a closure. Every record must have the field.
    ///
    ///     .attribute(\.initials, from: "name") { (name: String) in String(name.prefix(1)) }
    public func attribute<S: ConvertibleFromSource, V>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil, transform: @escaping @Sendable (S) throws -> V
    ) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: true) { record, object, _, options in
            let value: S = try record.require(property.field, options: options)
            object[keyPath: property.path] = try transformed(value, record, property.field, transform)
        }
    }

    /// Reads an attribute from a field by a closure, which gets nil where the record has no such field, or null.
    public func attribute<S: ConvertibleFromSource, V>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil, transformOptional: @escaping @Sendable (S?) throws -> V
    ) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: false) { record, object, _, options in
            let value: S? = try record.optional(property.field, options: options)
            object[keyPath: property.path] = try transformed(value, record, property.field, transformOptional)
        }
    }

    /// Reads an attribute whose type is `Decodable` from a field, as from JSON.
    @_disfavoredOverload
    public func attribute<V: Decodable & SendableMetatype>(_ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: true) { record, object, _, options in
            let value: JSONValue = try record.require(property.field, options: options)
            object[keyPath: property.path] = try transformed(value, record, property.field) { try $0.decode(V.self, options: options) }
        }
    }

    /// Reads an attribute with raw values from a field.
    @_disfavoredOverload
    public func attribute<V: RawRepresentable & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil
    ) -> Self where V.RawValue: ConvertibleFromSource { attribute(path, from: field, transform: rawValue) }

    /// Reads an optional attribute with raw values from a field: null makes it nil, and where the record has no such field it stays unchanged.
    @_disfavoredOverload
    public func attribute<V: RawRepresentable & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, V?>, from field: String? = nil
    ) -> Self where V.RawValue: ConvertibleFromSource {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: false) { record, object, _, options in
            guard let value = record.value(at: property.field) else { return }
            if value.isNull {
                object[keyPath: property.path] = nil
                return
            }
            let raw: V.RawValue = try record.require(property.field, options: options)
            object[keyPath: property.path] = try transformed(raw, record, property.field) { try rawValue($0) as V }
        }
    }

    /// Reads an attribute from the whole record by a closure.
    public func attribute<V>(
        _ path: ReferenceWritableKeyPath<Object, V>, fromRecord make: @escaping @Sendable (SourceRecord) throws -> V
    ) -> Self {
        let property = Property(path, nil)
        return adding("the record", property.name, isRequired: false) { record, object, _, _ in
            object[keyPath: property.path] = try make(record)
        }
    }
}

/// A property of the model and the field that it comes from.
struct Property<Object: Model, V>: @unchecked Sendable {  // key paths of stored properties hold no state
    let path: ReferenceWritableKeyPath<Object, V>
    let name: String
    let field: String

    init(_ path: ReferenceWritableKeyPath<Object, V>, _ field: String?) {
        self.path = path
        name = MappingSteps<Object, Void>.storedName(path)
        self.field = field ?? name
    }
}

/// Calls a closure for the value of a field; an error names the field and the record.
func transformed<S, V>(_ value: S, _ record: SourceRecord, _ field: String, _ transform: (S) throws -> V) throws -> V {
    do {
        return try transform(value)
    } catch let error as RecordError {
        throw error.inField(field).at(record.position)
    }
}

@Sendable
private func rawValue<V: RawRepresentable>(_ raw: V.RawValue) throws -> V {
    guard let value = V(rawValue: raw) else { throw RecordError(.wrongType, "\"\(raw)\" is not a raw value of \(V.self)") }
    return value
}
