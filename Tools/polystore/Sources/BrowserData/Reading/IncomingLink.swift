import PolyStoreBackend

/// A relationship that leads to an entity and has no inverse there.
struct IncomingLink: Sendable {
    /// The entity or subentity that declares the relationship.
    let source: String
    let relationship: RelationshipDescription

    /// Returns the incoming relationships of each entity, by the name of the entity that they lead to.
    static func all(in schema: SchemaDescription) -> [String: [IncomingLink]] {
        let entities = schema.entitiesByName
        var links: [String: [IncomingLink]] = [:]
        for entity in schema.entities {
            for case .relationship(let relationship) in entity.properties
            where entities[relationship.destination]?.inverse(of: relationship, from: entity.name) == nil {
                links[relationship.destination, default: []].append(
                    IncomingLink(source: entity.owner(of: relationship.name), relationship: relationship))
            }
        }
        return links
    }
}
