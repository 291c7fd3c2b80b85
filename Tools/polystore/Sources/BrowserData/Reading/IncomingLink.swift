import PolyStoreBackend

/// A relationship that leads to an entity and has no inverse there.
struct IncomingLink: Sendable {
    /// The entity or subentity that declares the relationship.
    let source: String
    let relationship: RelationshipDescription

    /// Returns the incoming relationships of each entity, by the name of the entity that they lead to.
    static func all(in schema: SchemaDescription) -> [String: [IncomingLink]] {
        var links: [String: [IncomingLink]] = [:]
        for entity in schema.entities {
            for case .relationship(let relationship) in entity.properties where schema.inverse(of: relationship, from: entity.name) == nil {
                links[relationship.destination, default: []].append(
                    IncomingLink(source: entity.owner(of: relationship.name), relationship: relationship))
            }
        }
        return links
    }
}

extension SchemaDescription {
    /// Returns the inverse of a relationship, which is named at one of both ends; nil if there is none.
    package func inverse(of relationship: RelationshipDescription, from entity: String) -> RelationshipDescription? {
        let target = entities.first { $0.name == relationship.destination }
        for case .relationship(let other) in target?.properties ?? [] where other.destination == entity {
            if relationship.inverse == other.name || relationship.inverse == nil && other.inverse == relationship.name { return other }
        }
        return nil
    }

    /// Returns the entity to which a relationship leads; in a hierarchy the subentity that declares the inverse.
    package func target(of relationship: RelationshipDescription, from entity: String) -> String {
        guard let inverse = inverse(of: relationship, from: entity),
            let target = entities.first(where: { $0.name == relationship.destination })
        else { return relationship.destination }
        return target.owner(of: inverse.name)
    }
}

extension EntityDescription {
    /// Returns the entity or subentity that declares a property.
    package func owner(of property: String) -> String {
        hierarchy?.subentities.first { $0.properties.contains(property) }?.name ?? name
    }
}
