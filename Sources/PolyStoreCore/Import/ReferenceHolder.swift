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

    /// nil for a closure.
    let object: (any Model)?
    let path: AnyKeyPath?
    /// nil where the reference adds to a relationship.
    let replaced: Replaced?
    /// Counts the assignments; references that are assigned together have one number.
    let number: Int

    /// A closure.
    init() { (object, path, replaced, number) = (nil, nil, nil, 0) }

    init<Root: Model>(_ object: Root, _ path: PartialKeyPath<Root>, replacing number: Int?) {
        (self.object, self.path, self.number) = (object, path, number ?? 0)
        replaced = number == nil ? nil : Replaced(object: ObjectIdentifier(object), path: path)
    }

    /// For an error.
    var description: String {
        guard let object else { return "A reference" }
        return "\(Swift.type(of: object)._$entityName)\(relationship.map { ".\($0)" } ?? "") of object \(object._$state.key)"
    }

    private var relationship: String? {
        func name<T: Model>(_ object: T) -> String? { T._$properties.names.first { $0.path == path }?.name }
        return object.flatMap { name($0) }
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
