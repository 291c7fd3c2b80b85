extension SchemaDescription {
    /// Returns whether a store of this schema holds exactly the data of another schema, so that only plain indexes or declarations that no store keeps differ:
    /// original names, delete rules, defaults and rules of attributes.
    ///
    /// Uniqueness is part of the data because a store rejects duplicates.
    public func hasSameData(as other: SchemaDescription) -> Bool {
        func essence(_ schema: SchemaDescription) -> [EntityDescription] {
            schema.entities.map(\.essence).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return essence(self) == essence(other)
    }

    /// A hash of everything that ``hasSameData(as:)`` compares, as 16 hexadecimal digits: the ``versionHash`` of the schema without the rest. Schemas of the same
    /// data have the same fingerprint. Stores keep those of their versions, so its definition does not change.
    package var dataFingerprint: String { SchemaDescription(name: "", entities: entities.map(\.essence)).versionHash }
}

extension EntityDescription {
    /// The entity without indexes that enforce no uniqueness.
    package var withoutPlainIndexes: EntityDescription {
        var copy = self
        copy.indexes = indexes.filter(\.isUnique)
        copy.properties = properties.map { property in
            guard case .attribute(var attribute) = property else { return property }
            attribute.isIndexed = false
            return .attribute(attribute)
        }
        return copy
    }

    /// The entity without plain indexes and without the declarations that no store keeps.
    fileprivate var essence: EntityDescription {
        var copy = withoutDefaults.withoutPlainIndexes
        copy.originalName = nil
        copy.properties = copy.properties.map { property in
            switch property {
            case .attribute(var attribute):
                attribute.originalName = nil
                return .attribute(attribute)
            case .relationship(var relationship):
                relationship.originalName = nil
                relationship.deleteRule = .nullify
                return .relationship(relationship)
            }
        }
        if var hierarchy {
            for index in hierarchy.subentities.indices { hierarchy.subentities[index].originalName = nil }
            copy.hierarchy = hierarchy
        }
        return copy
    }
}
