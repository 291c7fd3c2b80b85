import PolyStoreBackend

extension Model {
    /// Returns the pending changes of the object by stored name, with old and new values. Unlike ``changedKeys``, it omits properties that were changed back to
    /// their stored values. For a new object it contains every property with a value.
    ///
    /// Reads the object from the store again.
    public func changedValues() throws -> [String: PropertyChange] {
        guard hasChanges, !isDeleted else { return [:] }
        let (old, new) = (try committedValues(), try currentValues())
        var changes: [String: PropertyChange] = [:]
        for name in Set(old.keys).union(new.keys) where old[name] != new[name] { changes[name] = .value(old: old[name], new: new[name]) }
        for relationship in changedRelationships {
            changes[relationship.name] = try _$state.context.changedMembers(of: self, relationship)
        }
        return changes
    }

    /// Returns whether a commit would change the stored values or relationships of the object. Unlike ``hasChanges``, it ignores reverted changes. True for
    /// new and deleted objects.
    public func hasPersistentChangedValues() throws -> Bool { try isInserted || isDeleted || !changedValues().isEmpty }

    /// Returns the stored values of attributes and to-one relationships, without the pending changes of this transaction. Null values are omitted;
    /// the result is empty for a new object.
    /// - Parameter keys: The stored names to return; `nil` for all.
    /// - Throws: `notFound` if the object has been deleted from the store; `misuse` for a name that is not an attribute or to-one relationship.
    public func committedValues(forKeys keys: [String]? = nil) throws -> QueryRow {
        let (context, entry) = (_$state.context, _$state.context.entry(_$state.entityIndex))
        if let unknown = keys?.first(where: { entry.entity.field(named: $0) == nil }) {
            throw StoreError(
                .misuse, "\(entry.entity.name) has no attribute or to-one relationship \"\(unknown)\".", entity: entry.entity.name,
                attribute: unknown)
        }
        if isInserted { return [:] }
        guard let record = try context.record(entry, _$state.rowID) else {
            throw StoreError(
                .notFound, "\(entry.entity.name) \(_$state.rowID) is not in the store: it was deleted.", entity: entry.entity.name,
                rowID: _$state.rowID)
        }
        return try context.row(record, entry, keys.map(Set.init))
    }

    private func currentValues() throws -> QueryRow {
        if isFault { _$fire() }
        let (context, entry) = (_$state.context, _$state.context.entry(_$state.entityIndex))
        let arena = RecordArena(capacity: 512)
        return try context.row(arena.encode(self, entry), entry, nil)
    }

    /// The to-many relationships that this transaction has changed.
    var changedRelationships: [Relationship] {
        let (context, entityIndex) = (_$state.context, _$state.entityIndex)
        return context.entry(entityIndex).entity.relationships.filter { relationship in
            guard relationship.isToMany else { return false }
            let changes = context.pendingMembers(
                RelationshipKey(entityIndex: entityIndex, relationship: Int32(relationship.index), rowID: _$state.rowID))
            return !(changes?.isEmpty ?? true)
        }
    }
}

extension Context {
    /// Returns the values of a record by name.
    fileprivate final func row(_ record: RecordView, _ entry: StoreEntity, _ names: Set<String>?) throws -> QueryRow {
        var row: QueryRow = [:]
        for field in entry.entity.fields where entry.declaredFields.contains(field.index) && names?.contains(field.name) ?? true {
            if let relationship = field.relationship {
                let target = ToOne(record, field.index)
                if target.rowID != 0 {
                    row[field.name] = .objectID(AnyObjectID(entry: self.entry(entry.destinations[relationship]), rowID: target.rowID))
                }
            } else {
                row[field.name] = try QueryValue(record.value(field), field.type)
            }
        }
        return row
    }

    /// Returns the changes of a to-many relationship relative to the store; `nil` if there are none.
    fileprivate final func changedMembers(of object: some Model, _ relationship: Relationship) throws -> PropertyChange? {
        let entry = entry(object._$state.entityIndex)
        let key = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship.index), rowID: object._$state.rowID)
        guard let changes = pendingMembers(key) else { return nil }
        let stored = object.isInserted ? [] : try storage(entry.store).related(relationship, of: [key.rowID])[key.rowID]
        let destination = self.entry(entry.destinations[relationship.index])
        func id(_ rowID: Int64) -> AnyObjectID { AnyObjectID(entry: destination, rowID: rowID) }
        if relationship.isOrdered {
            let new = changes.applied(to: stored)
            return new == stored ? nil : .list(old: stored.map(id), new: new.map(id))
        }
        let (added, removed) = (changes.added.subtracting(stored), changes.removed.intersection(stored))
        return added.isEmpty && removed.isEmpty ? nil : .members(added: Set(added.map(id)), removed: Set(removed.map(id)))
    }
}
