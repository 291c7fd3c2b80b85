import PolyStoreCore

/// Reads the targets of a relationship.
struct GraphRelationshipReader: GraphRelationshipVisitor {
    let object: any Model

    func one<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Target?>) throws -> [any Model] {
        guard let target = (object as? Owner)?[keyPath: path] else { return [] }
        return [target]
    }
    func set<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, Set<Target>>) throws -> [any Model] {
        (object as? Owner).map { Array($0[keyPath: path]) } ?? []
    }
    func list<Owner: Model, Target: Model>(_ path: ReferenceWritableKeyPath<Owner, [Target]>) throws -> [any Model] {
        (object as? Owner)?[keyPath: path] ?? []
    }
}
