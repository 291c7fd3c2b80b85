extension ChangeSet {
    /// An object that must exist when the change set has been applied, because a relationship leads to it.
    public struct RequiredObject: Sendable, Hashable {
        /// The ``Entity/index`` of the object's entity.
        public let entity: Int
        /// The row id of the object.
        public let rowID: Int64
        /// The ``Entity/index`` of the entity whose relationship was changed.
        public let owner: Int
        /// The ``Relationship/index`` of the relationship.
        public let relationship: Int
        /// The row id of the object whose relationship was changed. It is the required object itself if nothing else is written of that object.
        public let ownerRowID: Int64

        /// Creates the requirement.
        public init(entity: Int, rowID: Int64, owner: Int, relationship: Int, ownerRowID: Int64) {
            self.entity = entity
            self.rowID = rowID
            self.owner = owner
            self.relationship = relationship
            self.ownerRowID = ownerRowID
        }
    }

    /// Returns the error for required objects that are not in the store: a `constraint` with a violation of the rule ``Violation/Rule/reference`` for each.
    /// - Parameter isMissing: Returns whether a required object does not exist.
    /// - Returns: nil if none is missing.
    public func refusal(where isMissing: (RequiredObject) -> Bool) -> StoreError? {
        let inserted = Dictionary(grouping: changes.lazy.filter { $0.kind == .insert }) { [schema] in schema.entities[$0.entity].name }
            .mapValues { Set($0.lazy.map(\.rowID)) }
        var violations = Violations { entity, rowID in inserted[entity]?.contains(rowID) ?? false }
        for required in requiredObjects where isMissing(required) { violations.add(required, schema) }
        return violations.error
    }
}

extension Violations {
    /// Adds the violation of a relationship that leads to an object that is not in the store, or of an object that is not.
    package mutating func add(_ missing: ChangeSet.RequiredObject, _ schema: ResolvedSchema) {
        let owner = schema.entities[missing.owner]
        let isOwner = missing.owner == missing.entity && missing.ownerRowID == missing.rowID
        let what =
            isOwner
            ? "was changed, but the object is not in the store"
            : "leads to \(schema.entities[missing.entity].name) \(missing.rowID), which is not in the store"
        add(owner.name, owner.relationships[missing.relationship].name, missing.ownerRowID, what, .reference)
    }
}
