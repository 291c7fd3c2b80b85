import PolyStoreBackend

/// The properties of an entity or subentity, and where paths lead.
struct EntityProperties {
    let schema: SchemaDescription
    let entity: EntityDescription
    /// The name of the entity or subentity.
    let name: String

    init(_ entity: EntityDescription, name: String? = nil, in schema: SchemaDescription) {
        (self.schema, self.entity, self.name) = (schema, entity, name ?? entity.name)
    }

    /// The attributes and relationships in order of declaration, without those of other subentities.
    var properties: [PropertyDescription] {
        guard let hierarchy = entity.hierarchy else { return entity.properties }
        var names = Set(hierarchy.properties)
        var next = hierarchy.subentities.first { $0.name == name }
        while let subentity = next {
            names.formUnion(subentity.properties)
            next = hierarchy.subentities.first { $0.name == subentity.parent }
        }
        return entity.properties.filter { names.contains($0.name) }
    }

    /// A Boolean value that indicates whether objects can be of different entities.
    var hasSubentities: Bool { entity.hierarchy?.subentities.contains { $0.parent == name } ?? false }

    /// Returns the property at the end of a path of names; nil for anything else, such as a calculation.
    func property(at path: String) -> PropertyDescription? {
        var (current, found) = (entity, PropertyDescription?.none)
        for (index, name) in (Self.names(path) ?? []).enumerated() {
            if index > 0 {
                guard case .relationship(let relationship)? = found, !relationship.isToMany,
                    let next = schema.entities.first(where: { $0.name == relationship.destination })
                else { return nil }
                current = next
            }
            found = current.properties.first { $0.name == name }
            if found == nil { return nil }
        }
        return found
    }

    /// Returns the type of an attribute, or of a function whose result is one of its values; nil for anything else.
    func type(of term: String) -> AttributeType? {
        let inner = term.wholeMatch(of: /(?:min|max|minimum|maximum|mode)\((.*)\)/.ignoresCase()).map { String($0.1) }
        guard case .attribute(let attribute)? = property(at: inner ?? term) else { return nil }
        return attribute.type
    }

    /// The attribute that names an object for a reader: one called name or title, otherwise the first text; nil if the entity has no text.
    var label: String? {
        let texts = entity.properties.compactMap { property -> AttributeDescription? in
            guard case .attribute(let attribute) = property, attribute.type == .string, attribute.name != EntityHierarchy.classifier else {
                return nil
            }
            return attribute
        }
        let preferred = ["name", "title", "label", "fullName", "displayName"]
        return preferred.first { name in texts.contains { $0.name == name } } ?? (texts.first(where: \.isUnique) ?? texts.first)?.name
    }

    /// Returns the names of a path, in which names can be quoted: `publisher.#"first name"`; nil for anything else, such as a calculation.
    static func names(_ path: String) -> [String]? {
        var (names, rest) = ([String](), path[...])
        while true {
            if let match = rest.prefixMatch(of: /#"((?:[^"\\]|\\.)*)"/) {
                names.append(String(match.1).replacing(/\\(.)/) { String($0.1) })
                rest = rest[match.range.upperBound...]
            } else if let match = rest.prefixMatch(of: /[\p{L}_][\p{L}\p{M}\p{N}_]*/) {
                names.append(String(match.0))
                rest = rest[match.range.upperBound...]
            } else {
                return nil
            }
            if rest.isEmpty { return names }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
    }

    /// Returns a name as a path of format strings has it.
    static func quoted(_ name: String) -> String {
        let isWord =
            name.utf8.first.map { !(0x30...0x39 ~= $0) } ?? false
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x5f, 0x80...: true
                default: false
                }
            }
        return isWord ? name : "#\"" + name.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
    }
}
