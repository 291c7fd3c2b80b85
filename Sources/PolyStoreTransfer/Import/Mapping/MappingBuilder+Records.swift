import PolyStoreAttributes
public import PolyStoreFormats
import PolyStoreKernel

// Mappings from fields of records to attributes. There is one method for each kind of attribute and none is overloaded by type, so that the time to
// type-check a long mapping stays linear.

extension MappingBuilder where Source == SourceRecord {
    /// Returns the mapping with other date formats, which are tried in order.
    public func dates(_ formats: DateFormats) -> Self {
        var copy = self
        copy._$steps.options.dates = formats
        return copy
    }

    /// Reads an attribute from a field.
    ///
    /// If the record does not have the field, an optional attribute stays unchanged; null sets it to nil. An attribute that is not optional requires the field,
    /// unless there is a default.
    /// - Parameters:
    ///   - path: The attribute. Its type conforms to `ConvertibleFromSource`; an enum with raw values needs only an empty extension. See also
    ///     ``decoded(_:from:)``.
    ///   - field: The name or path (`address.city`) of the field; the default is the stored name of the attribute.
    ///   - value: The value of the attribute if the record does not have the field, or the field is null.
    public func attribute<V: ConvertibleFromSource & Sendable>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil, default value: V? = nil
    ) -> Self {
        let property = Property(path, field)
        if let value {
            return adding(property.field, property.name, isRequired: false) { record, object, _, options in
                object[keyPath: property.path] = try record.optional(property.field, as: V.self, options: options) ?? value
            }
        }
        let isOptional = V.self is any OptionalType.Type
        return adding(property.field, property.name, isRequired: !isOptional) { record, object, _, options in
            if isOptional, record.value(at: property.field) == nil { return }
            object[keyPath: property.path] = try record.require(property.field, as: V.self, options: options)
        }
    }

    /// Reads an attribute from a field and transforms it with a closure. Every record must have the field, unless the closure takes an optional.
    ///
    ///     .transformed(\.initials, from: "name") { (name: String) in String(name.prefix(1)) }
    public func transformed<S: ConvertibleFromSource, V>(
        _ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil, _ transform: @escaping @Sendable (S) throws -> V
    ) -> Self {
        let property = Property(path, field)
        let isOptional = S.self is any OptionalType.Type
        return adding(property.field, property.name, isRequired: !isOptional) { record, object, _, options in
            let isMissing = isOptional && record.value(at: property.field) == nil
            let value =
                isMissing ? try S(source: .null, options: options) : try record.require(property.field, as: S.self, options: options)
            object[keyPath: property.path] = try converted(value, record, property.field, transform)
        }
    }

    /// Reads an attribute of a `Decodable` type from a field, as from JSON. Every record must have the field.
    public func decoded<V: Decodable & SendableMetatype>(_ path: ReferenceWritableKeyPath<Object, V>, from field: String? = nil) -> Self {
        let property = Property(path, field)
        return adding(property.field, property.name, isRequired: true) { record, object, _, options in
            let value: JSONValue = try record.require(property.field, options: options)
            object[keyPath: property.path] = try converted(value, record, property.field) { try $0.decode(V.self, options: options) }
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

/// Calls a closure for the value of a field. Errors contain the field and the record.
func converted<S, V>(_ value: S, _ record: SourceRecord, _ field: String, _ transform: (S) throws -> V) throws -> V {
    do {
        return try transform(value)
    } catch let error as RecordError {
        throw error.inField(field).at(record.position)
    }
}
