import PolyStoreBackend
import PolyStoreKernel

/// A schema version as a value: the entities, properties and indexes of a schema whose classes have changed or been removed.
///
/// ``Schema/locked`` creates one from a schema with classes. Its description is Swift source code:
///
///     print(schema.locked)
///     // LockedSchema("Company 1", entities: [
///     //     EntityDescription(name: "Person", properties: [
///     //         .attribute(AttributeDescription(name: "age", type: .int64)),
///     //     ]),
///     // ])
public struct LockedSchema: SchemaVersion, Hashable {
    /// The name of the version.
    public let name: String
    /// The entities of the default configuration.
    public let entities: [EntityDescription]
    /// The names of the entities of the other configurations.
    public let configurations: [String: [String]]

    /// Creates a version from its entities.
    public init(_ name: String, entities: [EntityDescription], configurations: [String: [String]] = [:]) {
        self.name = name
        self.entities = entities
        self.configurations = configurations
    }

    public func description(ofConfiguration configuration: String?) throws -> SchemaDescription {
        guard let configuration else { return SchemaDescription(name: name, entities: entities) }
        guard let names = configurations[configuration] else {
            throw StoreError(.storeNotFound, "The schema \"\(name)\" has no configuration \"\(configuration)\".")
        }
        return SchemaDescription(name: name, entities: entities.filter { names.contains($0.name) })
    }
}

extension LockedSchema: CustomStringConvertible {
    /// The version as Swift source code.
    public var description: String {
        var writer = SourceWriter()
        writer.write(self)
        return writer.text
    }
}

/// Writes a schema as Swift source code, with the arguments that differ from their defaults.
private struct SourceWriter {
    private(set) var text = ""

    mutating func write(_ schema: LockedSchema) {
        line(0, "LockedSchema(\(quoted(schema.name)), entities: [")
        for entity in schema.entities { write(entity) }
        if schema.configurations.isEmpty {
            text += "])"
        } else {
            line(0, "], configurations: [")
            for (name, entities) in schema.configurations.sorted(by: { $0.key < $1.key }) {
                line(1, "\(quoted(name)): [\(entities.map(quoted).joined(separator: ", "))],")
            }
            text += "])"
        }
    }

    private mutating func line(_ depth: Int, _ content: String) {
        text += String(repeating: "    ", count: depth) + content + "\n"
    }

    private func quoted(_ text: String) -> String { text.debugDescription }

    private func names(_ names: [String]) -> String { "[\(names.map(quoted).joined(separator: ", "))]" }

    private mutating func write(_ entity: EntityDescription) {
        line(1, "EntityDescription(name: \(quoted(entity.name))\(original(entity.originalName)), properties: [")
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): line(2, ".attribute(\(source(attribute))),")
            case .relationship(let relationship): line(2, ".relationship(\(source(relationship))),")
            }
        }
        var end = "]"
        if !entity.indexes.isEmpty {
            let indexes = entity.indexes.map(source)
            end += ", indexes: [\(indexes.joined(separator: ", "))]"
        }
        if !entity.searchIndexes.isEmpty {
            end += ", searchIndexes: [\(entity.searchIndexes.map(source).joined(separator: ", "))]"
        }
        guard let hierarchy = entity.hierarchy else { return line(1, "\(end)),") }
        line(
            1,
            "\(end), hierarchy: EntityHierarchy(isAbstract: \(hierarchy.isAbstract), properties: \(names(hierarchy.properties)), subentities: ["
        )
        for part in hierarchy.subentities {
            line(
                2,
                "SubentityDescription(name: \(quoted(part.name))\(original(part.originalName)), parent: \(quoted(part.parent)), isAbstract: \(part.isAbstract), "
                    + "properties: \(names(part.properties)), required: \(names(part.required))),")
        }
        line(1, "])),")
    }

    private func source(_ index: IndexDescription) -> String {
        let parts = index.parts.map { part in
            part.json.map { ".json(\(quoted(part.field)), \(names($0.keys)), as: .\($0.type.rawValue))" } ?? quoted(part.field)
        }
        let label = index.readsJSON ? "parts" : "fields"
        return "IndexDescription(\(label): [\(parts.joined(separator: ", "))]\(index.isUnique ? ", isUnique: true" : ""))"
    }

    private func source(_ index: SearchIndexDescription) -> String {
        var parts = index.name.isEmpty ? [] : ["name: \(quoted(index.name))"]
        parts.append("fields: \(names(index.fields))")
        if index.weights.contains(where: { $0 != 1 }) { parts.append("weights: \(index.weights)") }
        if index.options.stemming != .none { parts.append("options: SearchOptions(stemming: .\(index.options.stemming.rawValue))") }
        return "SearchIndexDescription(\(parts.joined(separator: ", ")))"
    }

    private func original(_ name: String?) -> String { name.map { ", originalName: \(quoted($0))" } ?? "" }

    private func source(_ attribute: AttributeDescription) -> String {
        var parts = ["name: \(quoted(attribute.name))", "type: .\(attribute.type.rawValue)"]
        if attribute.isOptional { parts.append("isOptional: true") }
        if attribute.isUnique { parts.append("isUnique: true") }
        if attribute.isIndexed { parts.append("isIndexed: true") }
        if let name = attribute.originalName { parts.append("originalName: \(quoted(name))") }
        if let expression = attribute.defaultExpression {
            parts.append("defaultExpression: .\(expression.rawValue)")
        } else if let value = attribute.defaultValue {
            parts.append("defaultValue: \(source(value))")
        }
        return "AttributeDescription(\(parts.joined(separator: ", ")))"
    }

    private func source(_ value: Value) -> String {
        switch value {
        case .null: ".null"
        case .integer(let integer): ".integer(\(integer))"
        case .real(let real):
            real.isNaN ? ".real(.nan)" : real.isInfinite ? ".real(\(real < 0 ? "-" : "").infinity)" : ".real(\(real))"
        case .text(let text): ".text(\(quoted(text)))"
        case .blob(let bytes): ".blob([\(bytes.map(String.init).joined(separator: ", "))])"
        }
    }

    private func source(_ relationship: RelationshipDescription) -> String {
        var parts = ["name: \(quoted(relationship.name))"]
        if let name = relationship.originalName { parts.append("originalName: \(quoted(name))") }
        parts.append("destination: \(quoted(relationship.destination))")
        parts.append("isToMany: \(relationship.isToMany)")
        if relationship.isOrdered { parts.append("isOrdered: true") }
        if let inverse = relationship.inverse { parts.append("inverse: \(quoted(inverse))") }
        if relationship.deleteRule != .nullify { parts.append("deleteRule: .\(relationship.deleteRule.rawValue)") }
        if relationship.isRequired { parts.append("isRequired: true") }
        if relationship.minCount != 0 { parts.append("minCount: \(relationship.minCount)") }
        if let maxCount = relationship.maxCount { parts.append("maxCount: \(maxCount)") }
        return "RelationshipDescription(\(parts.joined(separator: ", ")))"
    }
}
