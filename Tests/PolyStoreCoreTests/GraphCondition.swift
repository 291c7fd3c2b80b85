import PolyStoreCore

/// Fetches the objects whose to-one relationship satisfies a condition, and counts them.
struct GraphCondition: GraphRelationshipVisitor {
    let context: Context
    let name: String
    let form: GraphOperation.Form
    let ids: [any GraphID]
    let object: (any Model)?
    let configuration: String?

    typealias Result = (found: [GraphKey], count: Int)

    func one<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Target?>) throws -> Result {
        let ids = ids.compactMap { $0 as? ObjectID<Target> }
        guard let id = ids.first else { throw GraphMismatch("an id has another type than \(Target.self)") }
        let path: KeyPath<Owner, Target?> = path
        let condition: Where<Owner>
        switch form {
        case .equal: condition = Where(path == id)
        case .unequal: condition = Where(path != id)
        case .oneOf: condition = ids ~= path
        case .format: condition = Where("\(name) == %@", id)
        case .formatUnequal: condition = Where("\(name) != %@", id)
        case .formatIn: condition = Where("\(name) IN %@", ids)
        case .object:
            guard let object = object as? Target else { throw GraphMismatch("an object has another type than \(Target.self)") }
            condition = Where(path == object)
        }
        let from = configuration.map { From<Owner>($0) } ?? From<Owner>()
        let found = try context.fetchAll(from, condition).compactMap { GraphKey($0) }
        return (found, try context.fetchCount(from, condition))
    }

    func set<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Set<Target>>) throws -> Result {
        throw GraphMismatch("\(name) is not a to-one relationship")
    }
    func list<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, [Target]>) throws -> Result {
        throw GraphMismatch("\(name) is not a to-one relationship")
    }
}
