import BrowserData
import BrowserDrawing
import PolyStoreBackend

extension SchemaGraph {
    /// Creates the graph of the entities and subentities of a schema.
    init(_ summaries: [EntitySummary], in schema: SchemaDescription) {
        self.init(entities: summaries.map(Self.entity), relationships: Self.relationships(in: schema))
    }

    private static func entity(_ summary: EntitySummary) -> Entity {
        let model = summary.model
        let own = model.root.hierarchy.map { hierarchy in
            Set(model.parent == nil ? hierarchy.properties : hierarchy.subentities.first { $0.name == model.name }?.properties ?? [])
        }
        let attributes = model.attributes.filter { own?.contains($0.name) ?? true }.map { attribute in
            let mark = attribute.isUnique ? ", unique" : attribute.isIndexed ? ", indexed" : ""
            return Attribute(attribute.name, "\(attribute.type.rawValue)\(attribute.isOptional ? "?" : "")\(mark)")
        }
        return Entity(
            summary.name, attributes: attributes, parent: model.parent, isAbstract: model.isAbstract, note: "\(summary.count)",
            link: Addresses.rows(summary.name))
    }

    private static func relationships(in schema: SchemaDescription) -> [Relationship] {
        var (result, drawn) = ([Relationship](), Set<[String]>())
        for entity in schema.entities {
            for case .relationship(let relationship) in entity.properties where !drawn.contains([entity.name, relationship.name]) {
                let inverse = schema.inverse(of: relationship, from: entity.name)
                if let inverse { drawn.insert([relationship.destination, inverse.name]) }
                result.append(
                    Relationship(
                        relationship.name, from: entity.owner(of: relationship.name),
                        to: schema.target(of: relationship, from: entity.name), count: count(relationship),
                        inverse: inverse.map { End($0.name, count: count($0)) }))
            }
        }
        return result
    }

    private static func count(_ relationship: RelationshipDescription) -> String {
        guard relationship.isToMany else { return relationship.isRequired ? "1" : "0..1" }
        return relationship.minCount == 0 && relationship.maxCount == nil
            ? "*" : "\(relationship.minCount)..\(relationship.maxCount.map { "\($0)" } ?? "*")"
    }
}
