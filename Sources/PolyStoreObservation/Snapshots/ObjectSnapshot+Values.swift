import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

// One subscript per coding, in the order of ModelCoding.of, in two forms: `snapshot.name` and `snapshot[\.name]`.

extension ObjectSnapshot {
    /// The value of an attribute, or the id of the target of a to-one relationship.
    public subscript<V: AttributeValue>(dynamicMember path: KeyPath<T, V>) -> V { self[path] }
    public subscript<V: RawRepresentable>(dynamicMember path: KeyPath<T, V>) -> V where V.RawValue: AttributeValue { self[path] }
    public subscript<V: RawRepresentable>(dynamicMember path: KeyPath<T, V?>) -> V? where V.RawValue: AttributeValue { self[path] }
    @_disfavoredOverload public subscript<V: Codable>(dynamicMember path: KeyPath<T, V>) -> V { self[path] }
    @_disfavoredOverload public subscript<V: Codable>(dynamicMember path: KeyPath<T, V?>) -> V? { self[path] }
    public subscript<U: Model>(dynamicMember path: KeyPath<T, U?>) -> ObjectID<U>? { self[path] }

    /// The value of an attribute.
    public subscript<V: AttributeValue>(path: KeyPath<T, V>) -> V {
        value(path, { try DirectCoding<V>.decode($0, $1) }, otherwise: V.emptyAttribute)
    }

    /// The value of an attribute with raw values.
    public subscript<V: RawRepresentable>(path: KeyPath<T, V>) -> V where V.RawValue: AttributeValue {
        value(path, { try RawCoding<V>.decode($0, $1) }, otherwise: nil)
    }

    /// The value of an optional attribute with raw values.
    public subscript<V: RawRepresentable>(path: KeyPath<T, V?>) -> V? where V.RawValue: AttributeValue {
        value(path, { try OptionalRawCoding<V>.decode($0, $1) }, otherwise: .some(nil))
    }

    /// The value of an attribute that is stored as JSON.
    @_disfavoredOverload
    public subscript<V: Codable>(path: KeyPath<T, V>) -> V { value(path, { try JSONCoding<V>.decode($0, $1) }, otherwise: nil) }

    /// The value of an optional attribute that is stored as JSON.
    @_disfavoredOverload
    public subscript<V: Codable>(path: KeyPath<T, V?>) -> V? {
        value(path, { try OptionalJSONCoding<V>.decode($0, $1) }, otherwise: .some(nil))
    }

    /// The id of the target of a to-one relationship.
    public subscript<U: Model>(path: KeyPath<T, U?>) -> ObjectID<U>? {
        let field = field(path)
        let entry = shape.entry(row)
        guard let relationship = entry.entity.fields[field].relationship else { refuse(path) }
        let target = withRecord { ToOne($0, field) }
        return target.rowID == 0 ? nil : ObjectID(entry: shape.table.entries[Int(entry.destinations[relationship])], rowID: target.rowID)
    }
}

extension ObjectSnapshot {
    /// Returns the field index of a key path.
    private func field(_ path: PartialKeyPath<T>) -> Int {
        guard let field = T._$properties.knownField(path) else { refuse(path) }
        guard shape.contains(field.index) else {
            preconditionFailure(
                "This snapshot of \(id) does not contain \(field.name): add it to the content that the snapshots are made with.")
        }
        return field.index
    }

    private func refuse(_ path: PartialKeyPath<T>) -> Never { preconditionFailure(SnapshotContent<T>.unknown(path).message) }

    /// Decodes a value. If decoding fails, logs the error and returns the default value.
    /// - Parameter otherwise: The initial value of an attribute without a default value.
    private func value<V>(_ path: PartialKeyPath<T>, _ decode: (RecordView, Int) throws -> V, otherwise empty: V?) -> V {
        let fieldIndex = field(path)
        do {
            return try withRecord { try decode($0, fieldIndex) }
        } catch {
            let field = shape.entry(row).entity.fields[fieldIndex]
            shape.logger.write(.error, "\(field.name) of \(id) cannot be decoded and reads as its default: \(error)")
            // Every attribute has one of them, because the compiler requires a default value for a type without an empty value.
            guard let value = (try? defaultValue(field, decode)) ?? empty else {
                preconditionFailure("\(field.name) of \(id) cannot be decoded and has no default: \(error)")
            }
            return value
        }
    }

    private func defaultValue<V>(_ field: Field, _ decode: (RecordView, Int) throws -> V) throws -> V? {
        guard let value = field.defaultValue else { return nil }
        let arena = RecordArena(capacity: 256)
        var builder = RecordBuilder(arena)
        builder.begin(shape.entry(row).entity.layout)
        try builder.set(field, value)
        return try withExtendedLifetime(arena) { try decode(builder.finishedView(), field.index) }
    }
}
