import PolyStoreBackend

extension SchemaDescription {
    /// Returns the inverse of a relationship, which is named at one of both ends; nil if there is none.
    func inverse(of relationship: RelationshipDescription, from entity: String) -> RelationshipDescription? {
        let target = entities.first { $0.name == relationship.destination }
        for case .relationship(let other) in target?.properties ?? [] where other.destination == entity {
            if relationship.inverse == other.name || relationship.inverse == nil && other.inverse == relationship.name { return other }
        }
        return nil
    }

    /// Returns the entity to which a relationship leads; in a hierarchy the subentity that declares the inverse.
    func target(of relationship: RelationshipDescription, from entity: String) -> String {
        guard let inverse = inverse(of: relationship, from: entity),
            let target = entities.first(where: { $0.name == relationship.destination })
        else { return relationship.destination }
        return target.owner(of: inverse.name)
    }
}

extension EntityDescription {
    /// Returns the entity or subentity that declares a property.
    func owner(of property: String) -> String { hierarchy?.subentities.first { $0.properties.contains(property) }?.name ?? name }
}
