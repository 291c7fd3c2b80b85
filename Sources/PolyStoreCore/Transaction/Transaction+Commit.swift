import PolyStoreBackend

extension Transaction {
    /// Validates all pending changes and encodes them.
    /// - Returns: the change sets by store, in the order of the stack.
    /// - Throws: `constraint` with all violations.
    func changeSets() throws -> [(store: PersistentStore, changes: ChangeSet)] {
        try resolveImports()
        settleCollections()
        if let error = refusals.first { throw error }
        try validate()
        var sets: [(store: PersistentStore, changes: ChangeSet)] = []
        for store in table.stores {
            guard let changes = try changeSet(store), !changes.isEmpty else { continue }
            try touch(store)
            sets.append((store, changes))
        }
        return sets
    }

    /// Returns the change set for one store, or nil if it is empty.
    private func changeSet(_ store: PersistentStore) throws -> ChangeSet? {
        let slots = Int(store.firstSlot)..<Int(store.firstSlot) + store.schema.entities.count
        let values = storeValues[store.index] ?? [:]
        let removal = historyRemovals[store.index]
        guard
            !values.isEmpty || removal != nil || memberLog.hasLinks || memberLog.hasOrders
                || slots.contains(where: { !pending[$0].isEmpty })
        else {
            return nil
        }
        var positions = try pendingPositions(store)
        let count = slots.reduce(0) { $0 + pending[$1].inserted.count + pending[$1].updated.count }
        let changes = ChangeSet(store.schema, capacity: max(4096, count * 256))
        changes.reserve(count)
        for slot in slots {
            let entry = table.entries[slot]
            for object in pending[slot].inserted where !object.isDeleted {
                var mask = FieldMask()
                let places = positions.take(entry, object, &mask)
                try describing(entry, object) {
                    try changes.insert(entry.entity, id: object._$state.key) { try entry.encode(object, into: &$0, positions: places) }
                }
            }
            for object in pending[slot].updated where !object.isDeleted {
                guard var mask = object._$state.edit?.mask, !mask.isEmpty else { continue }
                let places = positions.take(entry, object, &mask)
                try describing(entry, object) {
                    try changes.update(entry.entity, id: object._$state.key, mask: mask) {
                        try entry.encode(object, into: &$0, positions: places)
                    }
                }
            }
            for object in pending[slot].deleted { changes.delete(entry.entity, id: object._$state.key) }
        }
        try addMoves(&positions, to: changes)
        addLinks(&positions, to: changes, store)
        for (_, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try changes.setValue(value.bytes, named: value.name)
        }
        if let removal { changes.removeLogEntries(through: removal) }
        return changes
    }

    /// Adds updates of objects that only change their position. They are written without loading the objects.
    private func addMoves(_ positions: inout PendingPositions, to changes: ChangeSet) throws {
        if positions.fields.isEmpty { return }
        var masks: [MemberKey: FieldMask] = [:]
        for place in positions.fields.keys {
            masks[MemberKey(slot: place.slot, relationship: 0, key: place.key), default: FieldMask()].insert(place.field)
        }
        for (object, mask) in masks.sorted(by: { ($0.key.slot, $0.key.key) < ($1.key.slot, $1.key.key) }) {
            try changes.update(entry(object.slot).entity, id: object.key, mask: mask) { builder in
                for field in mask.ordinals {
                    let place = PendingPositions.Place(slot: object.slot, field: field, key: object.key)
                    if let position = positions.fields[place] { builder.setInteger(field, position) }
                }
            }
        }
    }

    private func addLinks(_ positions: inout PendingPositions, to changes: ChangeSet, _ store: PersistentStore) {
        if memberLog.hasLinks {
            for (key, net) in memberLog.all(where: { store.slots.contains($0.slot) }) {
                guard case .link(let table, isReversed: false) = entry(key.slot).entity.relationships[Int(key.relationship)].storage
                else { continue }
                for target in net.removed.sorted() {
                    changes.link(ChangeSet.LinkChange(table: table, source: key.key, target: target, isAddition: false))
                }
                for target in net.added.sorted() {
                    let places = positions.links.removeValue(forKey: .init(table: table, source: key.key, target: target))
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table, source: key.key, target: target, isAddition: true, targetPosition: places?.target,
                            sourcePosition: places?.source))
                }
            }
        }
        if positions.links.isEmpty { return }
        // Existing pairs with new positions.
        let moved = positions.links.sorted { ($0.key.table, $0.key.source, $0.key.target) < ($1.key.table, $1.key.source, $1.key.target) }
        for (pair, places) in moved {
            changes.link(
                ChangeSet.LinkChange(
                    table: pair.table, source: pair.source, target: pair.target, isAddition: true, targetPosition: places.target,
                    sourcePosition: places.source))
        }
    }

    final func describing(_ entry: StoreEntity, _ object: any Model, _ body: () throws -> Void) throws {
        do { try body() } catch { throw described(error, entry, object._$state.key) }
    }

    // MARK: Validation

    /// Validates all changed objects and throws one error with all violations.
    private func validate() throws {
        var violations = Violations()
        for slot in pending.indices {
            let entry = table.entries[slot]
            if !entry.counted.isEmpty { try checkCounts(entry, pending[slot], &violations) }
            if pending[slot].isEmpty { continue }
            let own = pending[slot]
            if let lost = own.updated.first(where: { $0._$state.flags.contains(.missing) }) { throw changed(lost, entry) }
            for object in own.inserted where !object.isDeleted {
                for field in entry.required(of: object) where !(object._$state.edit?.mask.contains(field) ?? false) {
                    let name = entry.entity.fields[field].name
                    violations.add(entry.entity.name, name, object._$state.key, "is required and was never assigned", .required)
                }
            }
            if entry.requiresTargets {
                for object in [own.inserted, own.updated].joined() where !object.isDeleted {
                    for relationship in entry.relationships(of: object)
                    where relationship.isRequired && !relationship.isToMany && object._$toOne(relationship.ordinal).id == 0 {
                        violations.add(
                            entry.entity.name, relationship.name, object._$state.key, "is required and leads to no object", .required)
                    }
                }
            }
            try checkObjects(entry, own, &violations)
        }
        try checkDenials(&violations)
        try checkReferences(&violations)
        try violations.throwIfAny()
    }

    /// Validates the minimum and maximum counts of to-many relationships, for inserted objects and changed relationships.
    private func checkCounts(_ entry: StoreEntity, _ own: Pending, _ violations: inout Violations) throws {
        let counted = entry.counted
        var keys = Set(memberLog.touched.filter { $0.slot == entry.slot })
        for object in own.inserted {
            for relationship in counted
            where entry.family == nil || entry.relationships(of: object).contains(where: { $0.ordinal == relationship.ordinal }) {
                keys.insert(MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key))
            }
        }
        for key in keys {
            guard let relationship = counted.first(where: { $0.ordinal == Int(key.relationship) }) else { continue }
            let object = anyObject(key.slot, key.key)
            if object._$state.isFault { fire(object) }
            guard !object.isDeleted else { continue }
            let count = try memberKeys(of: object, key).count
            if count < relationship.minCount || count > relationship.maxCount ?? .max {
                let bounds = relationship.maxCount.map { "\(relationship.minCount) to \($0)" } ?? "at least \(relationship.minCount)"
                violations.add(
                    entry.entity.name, relationship.name, key.key, "leads to \(count) objects, and \(bounds) are allowed", .count)
            }
        }
    }

    private func checkDenials(_ violations: inout Violations) throws {
        for key in denials {
            let entry = entry(key.slot)
            let object = anyObject(key.slot, key.key)
            let relationship = entry.entity.relationships[Int(key.relationship)]
            let slot = entry.destinations[relationship.ordinal]
            var left: [Int64]
            if case .foreignKey = relationship.storage {
                left = [object._$toOne(relationship.ordinal).id].filter { $0 != 0 }
            } else {
                left = try memberKeys(of: object, key)
            }
            left.removeAll { anyObject(slot, $0).isDeleted }
            guard !left.isEmpty else { continue }
            let names = left.sorted().prefix(5).map { "\(self.entry(slot).entity.name) \($0)" }.joined(separator: ", ")
            violations.add(
                entry.entity.name, relationship.name, key.key,
                "still leads to \(left.count) objects (\(names)\(left.count > 5 ? ", …" : "")), and its delete rule is deny", .deny)
        }
    }
}

/// The violations found by validation, thrown as one error.
struct Violations {
    private var found: [Violation] = []

    /// Adds a violation.
    /// - Parameters:
    ///   - attribute: nil if the violation concerns the whole object.
    ///   - what: the predicate of a sentence whose subject is the attribute.
    mutating func add(_ entity: String, _ attribute: String?, _ key: Int64, _ what: String, _ rule: Violation.Rule) {
        let subject = attribute.map { "\(entity).\($0) of object \(key)" } ?? "\(entity) \(key)"
        found.append(Violation(entity: entity, attribute: attribute, objectID: key, rule: rule, message: "\(subject) \(what)"))
    }

    mutating func add(_ violations: [Violation]) { found += violations }

    func throwIfAny() throws {
        guard let first = found.first else { return }
        let message =
            found.prefix(20).map(\.message).joined(separator: "; ") + (found.count > 20 ? "; and \(found.count - 20) more" : "") + "."
        var error = StoreError(.constraint, message, entity: first.entity, attribute: first.attribute, objectID: first.objectID)
        error.violations = found
        throw error
    }
}
