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
        schema.drawnRelationships.map { drawn in
            Relationship(
                drawn.relationship.name, from: drawn.source, to: drawn.target, count: drawn.relationship.multiplicity,
                inverse: drawn.inverse.map { End($0.name, count: $0.multiplicity) })
        }
    }
}
