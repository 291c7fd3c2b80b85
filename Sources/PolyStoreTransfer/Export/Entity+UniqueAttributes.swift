import PolyStoreBackend

extension Entity {
    /// The fields by which an export and an import name objects: those of the first unique index over attributes only. In a hierarchy, the first class in depth-first order that has
    /// all fields of such an index determines them, so that an index of the root precedes those of subentities. `nil` if there is none.
    package var uniqueAttributes: [Int]? {
        guard classifierField != nil else { return uniqueIndexes.first }
        return classes.lazy.compactMap { self.uniqueAttributes(within: $0) }.first
    }

    /// Returns the fields that name the objects of a class of a hierarchy: those of the index of the class, or of its superclass that is the nearest to the root.
    /// - Parameter kind: The class; `nil` for an entity without a hierarchy.
    package func uniqueAttributes(of kind: EntityClass?) -> [Int]? {
        guard let kind else { return uniqueAttributes }
        return classes.lazy.filter { $0.descendants.contains(kind.index) }.compactMap { self.uniqueAttributes(within: $0) }.first
    }

    /// Returns the fields by which references name targets that are of this entity; `nil` if they name them by row ids.
    ///
    /// In a hierarchy the targets are of the class that declares the inverse, or else of any.
    package func uniqueAttributes(ofTargets relationship: Relationship) -> [Int]? {
        guard classifierField != nil else { return uniqueAttributes }
        let kind = classes.first { kind in relationship.inverse.map { kind.relationships.contains($0) } ?? true }
        let found = uniqueAttributes(of: kind)
        return found == uniqueAttributes ? found : nil
    }

    /// The fields of the unique indexes over attributes only, in order.
    private var uniqueIndexes: [[Int]] {
        indexes.filter { $0.isUnique && !$0.readsJSON }.map(\.fields).filter { $0.allSatisfy { fields[$0].relationship == nil } }
    }

    private func uniqueAttributes(within kind: EntityClass) -> [Int]? { uniqueIndexes.first { $0.allSatisfy { kind.fields.contains($0) } } }
}
