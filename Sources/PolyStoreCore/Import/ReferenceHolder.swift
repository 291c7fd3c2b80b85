import PolyStoreBackend

/// What happens to a reference whose target neither exists nor is imported.
public enum MissingReference: Sendable, Hashable {
    /// The commit of the transaction fails with `notFound`, naming the object and the unique id.
    case fail
    /// The relationship becomes empty; of a to-many relationship the target is left out.
    case ignore
    /// An object is inserted that has the unique id and nothing else; a later import updates it.
    case createStub
}

/// The relationship of an object that waits for a reference, or a closure that does.
struct ReferenceHolder {
    /// A relationship that a reference replaces: an earlier reference that still waits has no effect any more.
    struct Replaced: Hashable {
        let object: ObjectIdentifier
        let path: AnyKeyPath
    }

    /// A relationship of all objects of an entity.
    struct Property: Hashable {
        let path: AnyKeyPath
        let slot: Int32
    }

    /// nil for a closure.
    let object: (any Model)?
    let path: AnyKeyPath?
    /// nil where the reference adds to a relationship.
    let replaced: Replaced?
    /// Whether the relationship leads to several objects, so that the ones that it leads to have to be known.
    let isToMany: Bool
    /// Counts the assignments; references that are assigned together have one number.
    let number: Int

    /// A closure.
    init() { (object, path, replaced, isToMany, number) = (nil, nil, nil, false, 0) }

    init<Root: Model>(_ object: Root, _ path: PartialKeyPath<Root>, replacing number: Int?, isToMany: Bool) {
        (self.object, self.path, self.number, self.isToMany) = (object, path, number ?? 0, isToMany)
        replaced = number == nil ? nil : Replaced(object: ObjectIdentifier(object), path: path)
    }

    /// The relationship, where it is a stored to-many one.
    func relationship(_ transaction: Transaction) -> (entry: StoreEntity, relationship: Relationship)? {
        guard isToMany, let object, let name = self.relationship else { return nil }
        let entry = transaction.entry(object._$state.slot)
        guard let relationship = entry.entity.relationship(named: name) else { return nil }
        return (entry, relationship)
    }

    /// For an error.
    var description: String {
        guard let object else { return "A reference" }
        return "\(Swift.type(of: object)._$entityName)\(relationship.map { ".\($0)" } ?? "") of object \(object._$state.key)"
    }

    private var relationship: String? {
        guard let object, let path else { return nil }
        return Swift.type(of: object)._$properties.knownName(path)
    }

    /// That the reference leads nowhere, as a broken rule of its object; nil for a closure.
    func violation(_ message: String) -> Violation? {
        object.map { object in
            Violation(
                entity: object._$state.context.entry(object._$state.slot).entity.name, attribute: relationship,
                objectID: object._$state.key,
                rule: .reference, message: message)
        }
    }
}
