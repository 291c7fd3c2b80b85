import PolyStoreBackend

/// A relationship with its inverse, which a diagram shows as one line.
package struct DrawnRelationship: Sendable {
    package let relationship: RelationshipDescription
    /// The inverse; nil if there is none.
    package let inverse: RelationshipDescription?
    /// The entity or subentity that declares the relationship.
    package let source: String
    /// The entity to which it leads; in a hierarchy the subentity that declares the inverse.
    package let target: String
}

extension SchemaDescription {
    /// The relationships in order of declaration, each with its inverse.
    package var drawnRelationships: [DrawnRelationship] {
        let entitiesByName = entitiesByName
        var (result, drawn) = ([DrawnRelationship](), Set<[String]>())
        for entity in entities {
            for case .relationship(let relationship) in entity.properties where !drawn.contains([entity.name, relationship.name]) {
                let target = entitiesByName[relationship.destination]
                let inverse = target?.inverse(of: relationship, from: entity.name)
                if let inverse { drawn.insert([relationship.destination, inverse.name]) }
                result.append(
                    DrawnRelationship(
                        relationship: relationship, inverse: inverse, source: entity.owner(of: relationship.name),
                        target: inverse.flatMap { target?.owner(of: $0.name) } ?? relationship.destination))
            }
        }
        return result
    }

    /// The entities by their names.
    var entitiesByName: [String: EntityDescription] { Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }

    /// Returns the inverse of a relationship; nil if there is none.
    package func inverse(of relationship: RelationshipDescription, from entity: String) -> RelationshipDescription? {
        entities.first { $0.name == relationship.destination }?.inverse(of: relationship, from: entity)
    }

    /// Returns the entity to which a relationship leads; in a hierarchy the subentity that declares the inverse.
    package func target(of relationship: RelationshipDescription, from entity: String) -> String {
        guard let target = entities.first(where: { $0.name == relationship.destination }),
            let inverse = target.inverse(of: relationship, from: entity)
        else { return relationship.destination }
        return target.owner(of: inverse.name)
    }
}

extension EntityDescription {
    /// Returns the inverse of a relationship that leads from an entity to this one, which is named at one of both ends; nil if there is none.
    func inverse(of relationship: RelationshipDescription, from entity: String) -> RelationshipDescription? {
        for case .relationship(let other) in properties where other.destination == entity {
            if relationship.inverse == other.name || relationship.inverse == nil && other.inverse == relationship.name { return other }
        }
        return nil
    }

    /// Returns the entity or subentity that declares a property.
    package func owner(of property: String) -> String {
        hierarchy?.subentities.first { $0.properties.contains(property) }?.name ?? name
    }
}

extension RelationshipDescription {
    /// The number of objects that the relationship can lead to: `1`, `0..1`, `*` or limits such as `2..*`.
    package var multiplicity: String {
        guard isToMany else { return isRequired ? "1" : "0..1" }
        return minCount == 0 && maxCount == nil ? "*" : "\(minCount)..\(maxCount.map { "\($0)" } ?? "*")"
    }
}
