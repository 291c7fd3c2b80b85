extension SchemaDescription {
    /// Returns whether a store of this schema holds exactly the data of another schema, so that only plain indexes or declarations that no store keeps differ:
    /// original names, delete rules, defaults and rules of attributes.
    ///
    /// Uniqueness is part of the data because a store rejects duplicates. An original name is not ignored if it exchanges data: if the store has an entity or a
    /// property of that name, and the declaration is not in the store's schema yet.
    public func hasSameData(as other: SchemaDescription) -> Bool {
        func essence(_ schema: SchemaDescription) -> [EntityDescription] {
            schema.entities.map(\.essence).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        }
        return essence(self) == essence(other) && !other.movesData(of: self)
    }

    /// A hash of everything that ``hasSameData(as:)`` compares, as 16 hexadecimal digits: the ``versionHash`` of the schema without the rest. Schemas of the same
    /// data have the same fingerprint. Stores keep those of their versions, so its definition does not change.
    package var dataFingerprint: String { SchemaDescription(name: "", entities: entities.map(\.essence)).versionHash }

    /// Returns whether a declared original name refers to an entity or a property of an earlier schema with the same names.
    private func movesData(of earlier: SchemaDescription) -> Bool {
        typealias Part = (name: String, original: String?)
        func moves(_ new: [Part], _ old: [Part]) -> Bool {
            let known = Dictionary(old.map { ($0.name, $0.original) }, uniquingKeysWith: { first, _ in first })
            return new.contains { part in
                guard let original = part.original, original != part.name, known.keys.contains(original), let before = known[part.name]
                else { return false }
                return before != original
            }
        }
        if moves(entities.map { ($0.name, $0.originalName) }, earlier.entities.map { ($0.name, $0.originalName) }) { return true }
        let old = Dictionary(earlier.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return entities.contains { entity in
            guard let before = old[entity.name] else { return false }
            let (parts, partsBefore) = (entity.hierarchy?.subentities ?? [], before.hierarchy?.subentities ?? [])
            return moves(entity.properties.map { ($0.name, $0.originalName) }, before.properties.map { ($0.name, $0.originalName) })
                || moves(parts.map { ($0.name, $0.originalName) }, partsBefore.map { ($0.name, $0.originalName) })
        }
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
