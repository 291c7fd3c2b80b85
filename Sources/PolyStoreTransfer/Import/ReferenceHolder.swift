import PolyStoreBackend
import PolyStoreKernel

/// The behavior of a reference whose target neither exists nor is imported.
public enum MissingReference: Sendable, Hashable {
    /// The commit of the transaction fails with `notFound`, with the object and the unique id.
    case fail
    /// A to-one relationship is cleared; in a to-many relationship the target is omitted.
    case ignore
    /// An object is inserted with only the unique id; a later import updates it.
    case createStub
}

/// The relationship of an object, or the closure, that a pending reference is for.
struct ReferenceHolder {
    /// A relationship that a reference replaces; an earlier pending reference to it is discarded.
    struct Replaced: Hashable {
        let object: ObjectIdentifier
        let path: Path
    }

    /// A relationship: a key path of its class, or its stored name.
    enum Path: Hashable {
        case keyPath(AnyKeyPath)
        case name(String)
    }

    /// A relationship of all objects of an entity.
    struct Property: Hashable {
        let path: Path
        let entityIndex: Int32
    }

    /// The object; `nil` for a closure.
    let object: (any Model)?
    let path: Path?
    /// The relationship to replace; `nil` if the reference adds to a relationship.
    let replaced: Replaced?
    /// A Boolean value that indicates whether the relationship is to-many, so that its current objects must be read.
    let isToMany: Bool
    /// The sequence number of the assignment; references that are assigned together have the same number.
    let number: Int

    /// Creates the holder of a closure.
    init() { (object, path, replaced, isToMany, number) = (nil, nil, nil, false, 0) }

    init<Root: Model>(_ object: Root, _ path: PartialKeyPath<Root>, replacing number: Int?, isToMany: Bool) {
        self.init(object, .keyPath(path), replacing: number, isToMany: isToMany)
    }

    init(_ object: any Model, _ path: Path, replacing number: Int?, isToMany: Bool) {
        (self.object, self.path, self.number, self.isToMany) = (object, path, number ?? 0, isToMany)
        replaced = number == nil ? nil : Replaced(object: ObjectIdentifier(object), path: path)
    }

    /// The relationship, if it is a stored to-many relationship.
    func relationship(_ transaction: Transaction) -> (entry: StoreEntity, relationship: Relationship)? {
        guard isToMany, let object, let name = self.relationship else { return nil }
        let entry = transaction.entry(object._$state.entityIndex)
        guard let relationship = entry.entity.relationship(named: name) else { return nil }
        return (entry, relationship)
    }

    /// A description for error messages.
    var description: String {
        guard let object else { return "A reference" }
        // The caller knows no id of an object that the import has created.
        let subject = object.isInserted ? "a new object" : "object \(object._$state.rowID)"
        return "\(Swift.type(of: object)._$entityName)\(relationship.map { ".\($0)" } ?? "") of \(subject)"
    }

    private var relationship: String? {
        switch path {
        case .keyPath(let path)?: object.flatMap { Swift.type(of: $0)._$properties.knownName(path) }
        case .name(let name)?: name
        case nil: nil
        }
    }

    /// Returns the missing target as a violation of the object; `nil` for a closure.
    func violation(_ message: String) -> Violation? {
        object.map { object in
            Violation(
                entity: object._$state.context.entry(object._$state.entityIndex).entity.name, attribute: relationship,
                rowID: object._$state.rowID,
                rule: .reference, message: message)
        }
    }
}
