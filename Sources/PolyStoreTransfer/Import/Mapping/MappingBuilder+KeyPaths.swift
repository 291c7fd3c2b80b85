import PolyStoreKernel

// Mappings from properties of source values of the program's own types, such as `Decodable` types.

extension MappingBuilder {
    /// Reads an attribute from a property of the source.
    public func attribute<V>(_ path: ReferenceWritableKeyPath<Object, V>, property: KeyPath<Source, V> & Sendable) -> Self {
        let target = Property(path, nil)
        return adding("\(property)", target.name, isRequired: true) { source, object, _, _ in
            object[keyPath: target.path] = source[keyPath: property]
        }
    }

    /// Reads an attribute from an optional property of the source; `nil` is replaced by the default.
    public func attribute<V: Sendable>(
        _ path: ReferenceWritableKeyPath<Object, V>, property: KeyPath<Source, V?> & Sendable, default value: V
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(property)", target.name, isRequired: false) { source, object, _, _ in
            object[keyPath: target.path] = source[keyPath: property] ?? value
        }
    }

    /// Reads an attribute from a property of the source and transforms it with a closure.
    public func transformed<S, V>(
        _ path: ReferenceWritableKeyPath<Object, V>, property: KeyPath<Source, S> & Sendable,
        _ transform: @escaping @Sendable (S) throws -> V
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(property)", target.name, isRequired: true) { source, object, _, _ in
            object[keyPath: target.path] = try transform(source[keyPath: property])
        }
    }

    /// Sets a to-one relationship to the object whose unique id is in an optional property of the source.
    public func relationship<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Target?>, property: KeyPath<Source, Target.UniqueIDType?> & Sendable,
        into: Into<Target> = Into(), ifMissing: MissingReference = .fail
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(property)", "\(target.name) → \(Target._$entityName)", isRequired: false) { source, object, transaction, _ in
            try transaction.reference(into, uniqueID: source[keyPath: property], ifMissing: ifMissing).assign(to: target.path, on: object)
        }
    }

    /// Sets a to-one relationship to the object whose unique id is in a property of the source.
    public func relationship<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Target?>, requiredProperty: KeyPath<Source, Target.UniqueIDType> & Sendable,
        into: Into<Target> = Into(), ifMissing: MissingReference = .fail
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(requiredProperty)", "\(target.name) → \(Target._$entityName)", isRequired: true) {
            source, object, transaction, _ in
            try transaction.reference(into, uniqueID: source[keyPath: requiredProperty], ifMissing: ifMissing)
                .assign(to: target.path, on: object)
        }
    }

    /// Sets a to-many relationship to the objects whose unique ids are in a list of the source.
    public func relationship<R: MappableRelationship & SendableMetatype, IDs: Sequence<R.Target.UniqueIDType> & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, R>, list: KeyPath<Source, IDs> & Sendable, into: Into<R.Target> = Into(),
        ifMissing: MissingReference = .fail
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(list)", "\(target.name) → \(R.Target._$entityName)", isRequired: true) { source, object, transaction, _ in
            try R._$assign(
                transaction.references(into, uniqueIDs: source[keyPath: list], ifMissing: ifMissing), to: target.path, on: object)
        }
    }

    /// Imports the nested source in a property and sets a to-one relationship to the object.
    public func nested<Target: ImportableUniqueObject>(
        _ path: ReferenceWritableKeyPath<Object, Target?>, property: KeyPath<Source, Target.ImportSource?> & Sendable,
        into: Into<Target> = Into()
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(property)", "\(target.name) → \(Target._$entityName)", isRequired: false) { source, object, transaction, _ in
            try transaction.reference(into, importing: source[keyPath: property]).assign(to: target.path, on: object)
        }
    }

    /// Imports the nested sources in a list and sets a to-many relationship to the objects.
    public func nested<R: MappableRelationship & SendableMetatype, Sources: Sequence<R.Target.ImportSource> & SendableMetatype>(
        _ path: ReferenceWritableKeyPath<Object, R>, list: KeyPath<Source, Sources> & Sendable, into: Into<R.Target> = Into()
    ) -> Self {
        let target = Property(path, nil)
        return adding("\(list)", "\(target.name) → \(R.Target._$entityName)", isRequired: true) { source, object, transaction, _ in
            try R._$assign(transaction.references(into, importing: source[keyPath: list]), to: target.path, on: object)
        }
    }
}
