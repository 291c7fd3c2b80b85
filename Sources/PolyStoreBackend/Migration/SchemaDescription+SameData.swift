extension SchemaDescription {
    /// Returns whether a store of this schema holds exactly the data of another schema, so that only plain and full-text indexes differ, or declarations that change no stored
    /// data: original names, delete rules, defaults and rules of attributes. A store keeps the declarations in its schema, which is then replaced without a
    /// migration.
    ///
    /// Uniqueness is part of the data because a store rejects duplicates. An original name is not ignored if it names another entity, or another property of the
    /// entity: two versions can then have the same names with each other's data.
    public func hasSameData(as other: SchemaDescription) -> Bool {
        func sorted(_ entities: [EntityDescription]) -> [EntityDescription] {
            entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return sorted(essence) == sorted(other.essence)
    }

    /// A hash of everything that ``hasSameData(as:)`` compares, as 16 hexadecimal digits: the ``versionHash`` of the schema without the rest. Schemas of the same
    /// data have the same fingerprint. Stores keep those of their versions, so its definition does not change.
    package var dataFingerprint: String { SchemaDescription(name: "", entities: essence).versionHash }

    /// The entities without plain indexes and without the declarations that change no stored data.
    private var essence: [EntityDescription] {
        let names = Set(entities.map(\.name))
        return entities.map { $0.essence(names) }
    }
}

extension PropertyDescription {
    /// The name in an earlier schema version, if the property was renamed.
    package var originalName: String? {
        switch self {
        case .attribute(let attribute): attribute.originalName
        case .relationship(let relationship): relationship.originalName
        }
    }
}

extension EntityDescription {
    /// The entity without indexes that enforce no uniqueness, and without full-text indexes.
    package var withoutPlainIndexes: EntityDescription {
        var copy = self
        copy.indexes = indexes.filter(\.isUnique)
        copy.searchIndexes = []
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property else { return property }
            attribute.isIndexed = false
            return .attribute(attribute)
        }
        return copy
    }

    /// Returns the entity without plain indexes and without the declarations that change no stored data.
    /// - Parameter entities: The names of all entities.
    fileprivate func essence(_ entities: Set<String>) -> EntityDescription {
        /// Returns an original name that another part of the schema has as its name, so that the declaration exchanges data.
        func exchanged(_ original: String?, _ name: String, _ names: Set<String>) -> String? {
            original.flatMap { $0 != name && names.contains($0) ? $0 : nil }
        }
        var copy = withoutDefaults.withoutPlainIndexes
        copy.originalName = exchanged(originalName, name, entities)
        let names = Set(properties.map(\.name))
        copy.properties = copy.properties.map { property in
            switch property {
            case .attribute(var attribute):
                attribute.originalName = exchanged(attribute.originalName, attribute.name, names)
                return .attribute(attribute)
            case .relationship(var relationship):
                relationship.originalName = exchanged(relationship.originalName, relationship.name, names)
                relationship.deleteRule = .nullify
                return .relationship(relationship)
            }
        }
        if var hierarchy {
            let names = Set(hierarchy.subentities.map(\.name))
            for (index, part) in hierarchy.subentities.enumerated() {
                hierarchy.subentities[index].originalName = exchanged(part.originalName, part.name, names)
            }
            copy.hierarchy = hierarchy
        }
        return copy
    }
}
