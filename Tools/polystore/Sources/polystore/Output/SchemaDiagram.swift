import BrowserData
import PolyStoreBackend

/// A schema as a class diagram of Mermaid.
struct SchemaDiagram {
    private let schema: SchemaDescription
    /// The identifiers in the diagram by name.
    private let identifiers: [String: String]

    init(_ schema: SchemaDescription) {
        self.schema = schema
        let names = schema.entities.flatMap { [$0.name] + ($0.hierarchy?.subentities.map(\.name) ?? []) }
        var identifiers: [String: String] = [:]
        for (index, name) in names.enumerated() {
            let isWord = name.utf8.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x5a ~= $0 || 0x61...0x7a ~= $0 || $0 == 0x5f }
            identifiers[name] = isWord && name.lowercased() != "class" ? name : "entity\(index)"
        }
        self.identifiers = identifiers
    }

    /// The diagram; it ends with a line break.
    var text: String {
        var lines = ["classDiagram"]
        for entity in schema.entities {
            let hierarchy = entity.hierarchy
            lines += box(
                entity.name, attributes(entity) { hierarchy?.properties.contains($0) ?? true }, isAbstract: hierarchy?.isAbstract ?? false)
            for subentity in hierarchy?.subentities ?? [] {
                lines += box(
                    subentity.name, attributes(entity, subentity.required) { subentity.properties.contains($0) },
                    isAbstract: subentity.isAbstract)
                lines.append("    \(id(subentity.parent)) <|-- \(id(subentity.name))")
            }
        }
        return (lines + relationships).joined(separator: "\n") + "\n"
    }

    private func id(_ name: String) -> String { identifiers[name] ?? name }

    private func box(_ name: String, _ members: [String], isAbstract: Bool) -> [String] {
        let title = id(name) == name ? name : "\(id(name))[\"\(Self.shown(name))\"]"
        let lines = (isAbstract ? ["<<abstract>>"] : []) + members
        guard !lines.isEmpty else { return ["    class \(title)"] }
        return ["    class \(title) {"] + lines.map { "        \($0)" } + ["    }"]
    }

    private func attributes(_ entity: EntityDescription, _ required: [String] = [], _ isOwn: (String) -> Bool) -> [String] {
        entity.properties.compactMap { property in
            guard case .attribute(let attribute) = property, isOwn(attribute.name) else { return nil }
            let isOptional = attribute.isOptional && !required.contains(attribute.name)
            let isSearched = entity.searchIndexes.contains { $0.fields.contains(attribute.name) }
            let mark = (attribute.isUnique ? ", unique" : attribute.isIndexed ? ", indexed" : "") + (isSearched ? ", searched" : "")
            return "\(Self.shown(attribute.name)) : \(attribute.type.rawValue)\(isOptional ? "?" : "")\(mark)"
        }
    }

    /// One line for each relationship; a relationship and its inverse share one.
    private var relationships: [String] {
        schema.drawnRelationships.map { drawn in
            let (relationship, inverse, far) = (drawn.relationship, drawn.inverse, drawn.relationship.multiplicity)
            let label = inverse.map { $0.name == relationship.name ? $0.name : "\(relationship.name) / \($0.name)" } ?? relationship.name
            let ends = inverse.map { "\"\($0.multiplicity)\" -- \"\(far)\"" } ?? "--> \"\(far)\""
            return "    \(id(drawn.source)) \(ends) \(id(drawn.target)) : \(Self.shown(label))"
        }
    }

    /// Returns a name without the characters that mean something in a diagram.
    private static func shown(_ name: String) -> String {
        DisplayText(String(name.map { "\"{}<>~;:".contains($0) ? "_" : $0 })).text
    }
}
