import PolyStoreBackend

/// What a transaction has done to one property of an object.
public enum PropertyChange: Sendable, Hashable {
    /// To an attribute, or to a to-one relationship, whose values are ``QueryValue/objectID(_:)``; nil is no value.
    case value(old: QueryValue?, new: QueryValue?)
    /// To a to-many relationship.
    case members(added: Set<AnyObjectID>, removed: Set<AnyObjectID>)
    /// To an ordered to-many relationship.
    case list(old: [AnyObjectID], new: [AnyObjectID])

    /// What an attribute or to-one relationship was before.
    public var old: QueryValue? { if case .value(let old, _) = self { old } else { nil } }
    /// What an attribute or to-one relationship is now.
    public var new: QueryValue? { if case .value(_, let new) = self { new } else { nil } }
}

extension Model {
    /// What this transaction has changed, by stored name: old and new, exactly. What was changed back to what the store has is not in it, unlike in
    /// ``changedKeys``. Of a new object everything is that has a value.
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

    /// Whether a commit would leave the object with other values or relationships than it has in the store: exact, where ``hasChanges`` also counts
    /// what was changed back. True of new and of deleted objects.
    public func hasPersistentChangedValues() throws -> Bool { try isInserted || isDeleted || !changedValues().isEmpty }

    /// The values of attributes and to-one relationships that the store has, without what this transaction changed; those without a value are absent,
    /// and of a new object all are.
    /// - Parameter keys: stored names; nil: all.
    /// - Throws: `notFound` where the store does not have the object any more; `misuse` for a name that is no attribute or to-one relationship.
    public func committedValues(forKeys keys: [String]? = nil) throws -> QueryRow {
        let (context, entry) = (_$state.context, _$state.context.entry(_$state.slot))
        if let unknown = keys?.first(where: { entry.entity.field(named: $0) == nil }) {
            throw StoreError(
                .misuse, "\(entry.entity.name) has no attribute or to-one relationship \"\(unknown)\".", entity: entry.entity.name,
                attribute: unknown)
        }
        if isInserted { return [:] }
        guard let record = try context.record(entry, _$state.key) else {
            throw StoreError(
                .notFound, "\(entry.entity.name) \(_$state.key) is not in the store: it was deleted.", entity: entry.entity.name,
                objectID: _$state.key)
        }
        return try context.row(record, entry, keys.map(Set.init))
    }

    private func currentValues() throws -> QueryRow {
        if isFault { _$fire() }
        let (context, entry) = (_$state.context, _$state.context.entry(_$state.slot))
        let arena = RecordArena(capacity: 512)
        return try context.row(arena.encode(self, entry), entry, nil)
    }

    /// The to-many relationships that this transaction has touched.
    var changedRelationships: [Relationship] {
        let (context, slot) = (_$state.context, _$state.slot)
        return context.entry(slot).entity.relationships.filter { relationship in
            guard relationship.isToMany else { return false }
            let changes = context.pendingMembers(MemberKey(slot: slot, relationship: Int32(relationship.ordinal), key: _$state.key))
            return !(changes?.isEmpty ?? true)
        }
    }
}

extension Context {
    /// A record by names.
    fileprivate final func row(_ record: RecordView, _ entry: StoreEntity, _ names: Set<String>?) throws -> QueryRow {
        var row: QueryRow = [:]
        for field in entry.entity.fields where entry.declaredFields.contains(field.ordinal) && names?.contains(field.name) ?? true {
            if let relationship = field.relationship {
                let target = ToOne(record, field.ordinal)
                if target.id != 0 {
                    row[field.name] = .objectID(AnyObjectID(entry: self.entry(entry.destinations[relationship]), key: target.id))
                }
            } else {
                row[field.name] = try QueryValue(record.value(field), field.type)
            }
        }
        return row
    }

    /// What a to-many relationship has gained and lost against the store; nil: nothing.
    fileprivate final func changedMembers(of object: some Model, _ relationship: Relationship) throws -> PropertyChange? {
        let entry = entry(object._$state.slot)
        let key = MemberKey(slot: entry.slot, relationship: Int32(relationship.ordinal), key: object._$state.key)
        guard let changes = pendingMembers(key) else { return nil }
        let stored = object.isInserted ? [] : try storage(entry.store).related(relationship, of: [key.key])[key.key]
        let destination = self.entry(entry.destinations[relationship.ordinal])
        func id(_ key: Int64) -> AnyObjectID { AnyObjectID(entry: destination, key: key) }
        if relationship.isOrdered {
            let new = changes.applied(to: stored)
            return new == stored ? nil : .list(old: stored.map(id), new: new.map(id))
        }
        let (added, removed) = (changes.added.subtracting(stored), changes.removed.intersection(stored))
        return added.isEmpty && removed.isEmpty ? nil : .members(added: Set(added.map(id)), removed: Set(removed.map(id)))
    }
}
