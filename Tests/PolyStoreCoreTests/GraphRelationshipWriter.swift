import PolyStoreCore

/// Changes a relationship of an object.
struct GraphRelationshipWriter: GraphRelationshipVisitor {
    let object: any Model
    let change: GraphChange
    let targets: [any Model]
    /// A Boolean value that indicates whether a collection is changed in place instead of replaced.
    let isInPlace: Bool

    func one<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Target?>) throws {
        guard let owner = object as? Owner else { return }
        owner[keyPath: path] = targets.first as? Target
    }

    func set<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Set<Target>>) throws {
        guard let owner = object as? Owner else { return }
        let targets = targets.compactMap { $0 as? Target }
        func apply(_ members: inout Set<Target>) {
            switch change {
            case .assign: members = Set(targets)
            case .remove: members.subtract(targets)
            case .insert, .move, .reverse: members.formUnion(targets)
            }
        }
        if isInPlace { return apply(&owner[keyPath: path]) }
        var members = owner[keyPath: path]
        apply(&members)
        owner[keyPath: path] = members
    }

    func list<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, [Target]>) throws {
        guard let owner = object as? Owner else { return }
        let targets = targets.compactMap { $0 as? Target }
        if isInPlace { return change.apply(to: &owner[keyPath: path], targets) }
        var members = owner[keyPath: path]
        change.apply(to: &members, targets)
        owner[keyPath: path] = members
    }
}
