import PolyStoreBackend

/// An entity or subentity of the store, with the properties that its objects can have.
package struct EntityModel: Sendable {
    /// The name of the entity or subentity.
    package let name: String
    /// The entity of the store that holds the objects: the root of a hierarchy, otherwise the entity itself.
    package let root: EntityDescription
    /// The name of the direct superentity; nil for a root and outside of hierarchies.
    package let parent: String?
    /// A Boolean value that indicates whether only subentities have objects.
    package let isAbstract: Bool
    /// The names of the direct subentities.
    package let subentities: [String]
    /// The attributes and relationships in order of declaration: the inherited ones and its own, without those of subentities and without the classifier.
    package let properties: [PropertyDescription]
    /// The attribute that names an object for a reader: one called name or title, otherwise the first unique text, otherwise the first text; nil if the entity has no text.
    package let label: String?

    /// A Boolean value that indicates whether objects can be of different entities.
    package var hasSubentities: Bool { !subentities.isEmpty }

    /// The attributes, without the classifier.
    package var attributes: [AttributeDescription] {
        properties.compactMap { if case .attribute(let attribute) = $0 { attribute } else { nil } }
    }

    /// The relationships.
    package var relationships: [RelationshipDescription] {
        properties.compactMap { if case .relationship(let relationship) = $0 { relationship } else { nil } }
    }

    /// Returns an attribute or relationship, also one that only subentities have; nil for another name.
    package func property(_ name: String) -> PropertyDescription? { root.properties.first { $0.name == name } }

    /// Returns an attribute; nil for another name.
    package func attribute(_ name: String) -> AttributeDescription? {
        if case .attribute(let attribute)? = property(name) { attribute } else { nil }
    }

    /// Returns a relationship; nil for another name.
    package func relationship(_ name: String) -> RelationshipDescription? {
        if case .relationship(let relationship)? = property(name) { relationship } else { nil }
    }

    /// Returns whether an index begins with a property, so that conditions, orders and groups of it need no scan of the records.
    package func isIndexed(_ property: String) -> Bool {
        switch self.property(property) {
        case .attribute(let attribute)? where attribute.isIndexed || attribute.isUnique: true
        // The backends keep an index of the targets of each relationship that is stored in the record.
        case .relationship(let relationship)?: !relationship.isToMany
        default: root.indexes.contains { $0.parts.first.map { $0.field == property && $0.json == nil } ?? false }
        }
    }

    /// Returns whether an index has the values of a property and nothing else, so that its entries with one value are in the order of the ids.
    package func isIndexedAlone(_ property: String) -> Bool {
        switch self.property(property) {
        case .attribute(let attribute)? where attribute.isIndexed || attribute.isUnique: true
        case .relationship(let relationship)?: !relationship.isToMany
        default: root.indexes.contains { $0.parts.count == 1 && $0.parts[0].field == property && $0.parts[0].json == nil }
        }
    }

    // MARK: Making

    /// Returns the models of an entity and its subentities.
    static func all(of entity: EntityDescription, in schema: SchemaDescription) -> [EntityModel] {
        let hierarchy = entity.hierarchy
        let own = EntityModel(
            name: entity.name, root: entity, parent: nil, isAbstract: hierarchy?.isAbstract ?? false,
            subentities: hierarchy?.subentities.filter { $0.parent == entity.name }.map(\.name) ?? [],
            names: hierarchy.map { Set($0.properties) })
        return [own]
            + (hierarchy?.subentities ?? []).map { part in
                EntityModel(
                    name: part.name, root: entity, parent: part.parent, isAbstract: part.isAbstract,
                    subentities: hierarchy?.subentities.filter { $0.parent == part.name }.map(\.name) ?? [],
                    names: names(of: part, hierarchy))
            }
    }

    private static func names(of subentity: SubentityDescription, _ hierarchy: EntityHierarchy?) -> Set<String> {
        var names = Set(hierarchy?.properties ?? [])
        var next: SubentityDescription? = subentity
        // A hierarchy has no more levels than subentities, also if its description is damaged.
        for _ in hierarchy?.subentities ?? [] {
            guard let part = next else { break }
            names.formUnion(part.properties)
            next = hierarchy?.subentities.first { $0.name == part.parent }
        }
        return names
    }

    private init(
        name: String, root: EntityDescription, parent: String?, isAbstract: Bool, subentities: [String], names: Set<String>?
    ) {
        (self.name, self.root, self.parent, self.isAbstract, self.subentities) = (name, root, parent, isAbstract, subentities)
        let properties = root.properties.filter { $0.name != EntityHierarchy.classifier && names?.contains($0.name) ?? true }
        self.properties = properties
        label = Self.label(properties) ?? Self.label(root.properties)
    }

    /// Returns the attribute that names an object for a reader: one called name or title, otherwise the first unique text, otherwise the first text; nil without a text.
    package static func label(_ properties: [PropertyDescription]) -> String? {
        let texts = properties.compactMap { property -> AttributeDescription? in
            guard case .attribute(let attribute) = property, attribute.type == .string, attribute.name != EntityHierarchy.classifier else {
                return nil
            }
            return attribute
        }
        let preferred = ["name", "title", "label", "fullName", "displayName"]
        return preferred.first { name in texts.contains { $0.name == name } } ?? (texts.first(where: \.isUnique) ?? texts.first)?.name
    }
}

extension String {
    /// The name of a property as format strings have it.
    package var asPath: String {
        let isWord =
            utf8.first.map { !(0x30...0x39 ~= $0) } ?? false
            && utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f: true
                default: false
                }
            } && !Self.reservedWords.contains(uppercased())
        return isWord ? self : "#\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    /// The words that must be quoted to be names in format strings.
    static let reservedWords: Set<String> = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "ANY", "SOME", "ALL", "NONE",
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NULL", "NIL", "SELF", "SEARCH", "OBJECTID",
    ]
}
