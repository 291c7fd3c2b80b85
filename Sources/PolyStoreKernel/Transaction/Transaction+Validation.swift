import PolyStoreBackend

extension Transaction {
    /// Validates all changed objects.
    /// - Throws: `constraint` with all violations; `misuse` if a validation method attempted to change something.
    func validate() throws {
        var violations = Violations(isNew: newObjects())
        try buffer.refusingChanges { run in
            for entityIndex in entitiesToValidate {
                let entry = table.entries[entityIndex]
                let entityChanges = buffer[entityIndex] ?? ChangeBuffer.EntityChanges()
                if !entry.counted.isEmpty { try checkCounts(entry, entityChanges, &violations) }
                if entityChanges.isEmpty { continue }
                if let lost = entityChanges.updated.first(where: { $0._$state.flags.contains(.missing) }) { throw changed(lost, entry) }
                checkAssigned(entry, entityChanges, &violations)
                if entry.requiresTargets { checkTargets(entry, entityChanges, &violations) }
                try checkObjects(entry, entityChanges, run, &violations)
            }
            try checkDenials(&violations)
            try checkReferences(&violations)
        }
        try violations.throwIfAny()
    }

    /// Validates that the required attributes of inserted objects were assigned.
    private func checkAssigned(_ entry: StoreEntity, _ entityChanges: ChangeBuffer.EntityChanges, _ violations: inout Violations) {
        for object in entityChanges.inserted where !object.isDeleted {
            for field in entry.required(of: object) where !(object._$state.edit?.mask.contains(field) ?? false) {
                let name = entry.entity.fields[field].name
                violations.add(entry.entity.name, name, object._$state.rowID, "is required and was never assigned", .required)
            }
        }
    }

    /// Validates that required to-one relationships lead to an object.
    private func checkTargets(_ entry: StoreEntity, _ entityChanges: ChangeBuffer.EntityChanges, _ violations: inout Violations) {
        for object in [entityChanges.inserted, entityChanges.updated].joined() where !object.isDeleted {
            for relationship in entry.relationships(of: object)
            where relationship.isRequired && !relationship.isToMany && object._$toOne(relationship.index).rowID == 0 {
                violations.add(entry.entity.name, relationship.name, object._$state.rowID, "is required and leads to no object", .required)
            }
        }
    }

    /// The entities with changed objects or, where the number of members is limited, changed relationships.
    private var entitiesToValidate: [Int] {
        guard table.limitsCounts, !buffer.relationshipChanges.isEmpty else { return buffer.pending.indexes }
        return Set(buffer.pending.indexes).union(buffer.relationshipChanges.changedEntities).sorted()
    }

    /// Returns a function that returns whether this transaction has created an object. It collects the row ids of an entity once.
    package func newObjects() -> (_ entity: String, _ rowID: Int64) -> Bool {
        var known: [String: Set<Int64>] = [:]
        return { [unowned self] entity, rowID in
            if let rowIDs = known[entity] { return rowIDs.contains(rowID) }
            let own = buffer.pending.indexes.filter { self.table.entries[$0].entity.name == entity }
            let rowIDs = Set(own.flatMap { buffer[$0]?.inserted.map { $0._$state.rowID } ?? [] })
            known[entity] = rowIDs
            return rowIDs.contains(rowID)
        }
    }

    /// Validates the minimum and maximum counts of to-many relationships, for inserted objects and changed relationships.
    private func checkCounts(_ entry: StoreEntity, _ entityChanges: ChangeBuffer.EntityChanges, _ violations: inout Violations) throws {
        let counted = entry.counted
        var keys = Set(buffer.relationshipChanges.changedRelationships.filter { $0.entityIndex == entry.entityIndex })
        for object in entityChanges.inserted {
            for relationship in counted
            where !entry.holdsHierarchy || entry.relationships(of: object).contains(where: { $0.index == relationship.index }) {
                keys.insert(
                    RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID))
            }
        }
        for key in keys {
            guard let relationship = counted.first(where: { $0.index == Int(key.relationship) }) else { continue }
            let object = anyObject(key.entityIndex, key.rowID)
            if object._$state.isFault { fire(object) }
            guard !object.isDeleted else { continue }
            let count = try memberRowIDs(of: object, key).count
            if count < relationship.minCount || count > relationship.maxCount ?? .max {
                let bounds = relationship.maxCount.map { "\(relationship.minCount) to \($0)" } ?? "at least \(relationship.minCount)"
                violations.add(
                    entry.entity.name, relationship.name, key.rowID, "leads to \(count) objects, and \(bounds) are allowed", .count)
            }
        }
    }

    private func checkDenials(_ violations: inout Violations) throws {
        for key in buffer.denials {
            let entry = entry(key.entityIndex)
            let object = anyObject(key.entityIndex, key.rowID)
            let relationship = entry.entity.relationships[Int(key.relationship)]
            let entityIndex = entry.destinations[relationship.index]
            var left: [Int64]
            if case .foreignKey = relationship.storage {
                left = [object._$toOne(relationship.index).rowID].filter { $0 != 0 }
            } else {
                left = try memberRowIDs(of: object, key)
            }
            left.removeAll { anyObject(entityIndex, $0).isDeleted }
            guard !left.isEmpty else { continue }
            let names = left.sorted().prefix(5).map { "\(self.entry(entityIndex).entity.name) \($0)" }.joined(separator: ", ")
            violations.add(
                entry.entity.name, relationship.name, key.rowID,
                "still leads to \(left.count) objects (\(names)\(left.count > 5 ? ", …" : "")), and its delete rule is deny", .deny)
        }
    }
}
