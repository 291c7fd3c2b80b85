import PolyStoreBackend

extension Transaction {
    /// Validates that relationship targets set without reading the store exist. Executes one query per entity, unless the store checks them with the change set.
    func checkReferences(_ violations: inout Violations) throws {
        guard let first = buffer.unverified.first else { return }
        if buffer.unverified.count == 1, !entry(first.entityIndex).store.checksTargets {
            // Fast path for the most common case of a single object.
            guard try !exists(first.entityIndex, first.rowID) else { return }
            return checkUse(of: [first.rowID], first.entityIndex, &violations)
        }
        for entityIndex in Set(buffer.unverified.lazy.map(\.entityIndex)).sorted() where !entry(entityIndex).store.checksTargets {
            let missing = try missingRowIDs(entityIndex, unverified(entityIndex))
            if !missing.isEmpty { checkUse(of: missing, entityIndex, &violations) }
        }
    }

    private func unverified(_ entityIndex: Int32) -> some Sequence<Int64> {
        buffer.unverified.lazy.filter { $0.entityIndex == entityIndex }.map(\.rowID)
    }

    /// Lets the store check the relationship targets that were set without reading it.
    func requireTargets(in changes: ChangeSet, _ store: PersistentStore) {
        guard store.checksTargets else { return }
        for entityIndex in Set(buffer.unverified.lazy.map(\.entityIndex)).sorted() where entry(entityIndex).store === store {
            let rowIDs = unverified(entityIndex).filter { !isKnown(entry(entityIndex).type, entityIndex, $0) }
            uses(of: Set(rowIDs), entityIndex) { changes.require($0) }
        }
    }

    /// Validates that the members added to a relationship exist whose inverse is to-one. Their own records hold the change, and a missing object has none.
    /// - Throws: `notFound`.
    func checkAdded(_ added: Set<Int64>, to key: RelationshipKey) throws {
        guard !buffer.unverified.isEmpty, !added.isEmpty else { return }
        let entry = entry(key.entityIndex)
        let entityIndex = entry.destinations[Int(key.relationship)]
        let unverified = added.intersection(buffer.unverified.lazy.filter { $0.entityIndex == entityIndex }.map(\.rowID))
        guard !unverified.isEmpty, let missing = try missingRowIDs(entityIndex, unverified).min() else { return }
        let name = entry.entity.relationships[Int(key.relationship)].name
        let owner = newObjects()(entry.entity.name, key.rowID) ? "a new object" : "object \(key.rowID)"
        throw StoreError(
            .notFound,
            "\(entry.entity.name).\(name) of \(owner) leads to \(self.entry(entityIndex).entity.name) \(missing), which is not in the store.",
            entity: entry.entity.name, attribute: name, rowID: key.rowID)
    }

    private func exists(_ entityIndex: Int32, _ rowID: Int64) throws -> Bool {
        let entry = entry(entityIndex)
        return try isKnown(entry.type, entityIndex, rowID) || storage(entry.store).record(entry.entity, rowID: rowID) != nil
    }

    /// Returns whether the object was read and therefore exists.
    private func isKnown<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowID: Int64) -> Bool {
        guard let registered = registered(type, entityIndex, rowID) else { return false }
        return !registered._$state.isFault && !registered._$state.flags.contains(.missing)
    }

    /// Returns the row ids of an entity that are not in the store.
    private func missingRowIDs(_ entityIndex: Int32, _ rowIDs: some Sequence<Int64>) throws -> Set<Int64> {
        let entry = entry(entityIndex)
        var missing = Set(rowIDs.filter { !isKnown(entry.type, entityIndex, $0) })
        if missing.isEmpty { return missing }
        var request = FetchRequest(entry.entity, predicate: .oneOf(.objectID, missing.map { .integer($0) }))
        request.onlyIDs = true
        let cursor = try storage(entry.store).fetch(request)
        defer { cursor.close() }
        while try cursor.next() { missing.remove(cursor.rowID) }
        return missing
    }

    /// Records a violation for each relationship that still references a missing object.
    private func checkUse(of missing: Set<Int64>, _ entityIndex: Int32, _ violations: inout Violations) {
        let schema = entry(entityIndex).store.schema
        uses(of: missing, entityIndex) { violations.add($0, schema) }
    }

    /// Calls a closure for each changed relationship that still references one of some objects.
    private func uses(of rowIDs: Set<Int64>, _ entityIndex: Int32, _ use: (ChangeSet.RequiredObject) -> Void) {
        if rowIDs.isEmpty { return }
        let required = entry(entityIndex).entity.index
        func found(_ owner: StoreEntity, _ relationship: Int, _ rowID: Int64, _ target: Int64) {
            use(.init(entity: required, rowID: target, owner: owner.entity.index, relationship: relationship, ownerRowID: rowID))
        }
        for (source, entityChanges) in buffer.pending.lazy.map({ ($0.index, $0.object) }) {
            let entry = table.entries[source]
            for relationship in entry.entity.relationships
            where !relationship.isToMany && entry.destinations[relationship.index] == entityIndex {
                for object in [entityChanges.inserted, entityChanges.updated].joined() where !object.isDeleted {
                    let target = object._$toOne(relationship.index).rowID
                    if rowIDs.contains(target) { found(entry, relationship.index, object._$state.rowID, target) }
                }
            }
        }
        // For a missing owner of a relationship with an inverse, the violation is reported at the inverse.
        let changedOwners = buffer.relationshipChanges.all { [unowned self] key in
            key.entityIndex == entityIndex && rowIDs.contains(key.rowID)
                && self.entry(entityIndex).entity.relationships[Int(key.relationship)].inverse == nil
        }
        for (key, changes) in changedOwners where !changes.isEmpty {
            found(entry(key.entityIndex), Int(key.relationship), key.rowID, key.rowID)
        }
        let lists = buffer.relationshipChanges.all { [unowned self] key in
            self.entry(key.entityIndex).destinations[Int(key.relationship)] == entityIndex
        }
        for (key, changes) in lists where !anyObject(key.entityIndex, key.rowID).isDeleted {
            for target in changes.added.intersection(rowIDs) { found(entry(key.entityIndex), Int(key.relationship), key.rowID, target) }
        }
    }

    /// Returns the error for a changed object that is missing in the store, whose changes would otherwise be lost silently.
    func changed(_ object: any Model, _ entry: StoreEntity) -> StoreError {
        StoreError(
            .notFound, "\(entry.entity.name) \(object._$state.rowID) was changed, but it is not in the store, or could not be read.",
            entity: entry.entity.name,
            rowID: object._$state.rowID)
    }
}
