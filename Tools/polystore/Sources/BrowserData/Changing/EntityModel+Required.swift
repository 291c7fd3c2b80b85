import PolyStoreBackend

extension EntityModel {
    /// The subentity and those that it inherits from; empty for the root and outside of hierarchies.
    private var line: [SubentityDescription] {
        let subentities = root.hierarchy?.subentities ?? []
        var (line, next) = ([SubentityDescription](), subentities.first { $0.name == name })
        while let subentity = next, line.count < subentities.count {
            line.append(subentity)
            next = subentities.first { $0.name == subentity.parent }
        }
        return line
    }

    /// Returns whether an attribute must have a value. In a hierarchy those of subentities are optional in the entity that holds them.
    func isRequired(_ attribute: AttributeDescription) -> Bool {
        !attribute.isOptional || line.contains { $0.required.contains(attribute.name) }
    }

    /// Returns whether a to-one relationship must lead to an object.
    func isRequired(_ relationship: RelationshipDescription) -> Bool {
        relationship.isRequired || line.contains { $0.required.contains(relationship.name) }
    }

    /// The names of the entities that have objects: the entity itself and those that inherit from it, without abstract ones.
    package var concreteNames: [String] {
        var (found, names) = (isAbstract ? [] : [name], Set([name]))
        // Depth first, so that a subentity follows the one that it inherits from.
        for subentity in root.hierarchy?.subentities ?? [] where names.contains(subentity.parent) {
            names.insert(subentity.name)
            if !subentity.isAbstract { found.append(subentity.name) }
        }
        return found
    }
}
