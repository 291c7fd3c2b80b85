import PolyStoreBackend
import PolyStoreCollections

extension Transaction {
    /// Replaces the members of an ordered relationship. Of duplicates the first one counts.
    /// - Returns: false if the assignment was rejected.
    @discardableResult
    func replaceList<T: Model>(of object: any Model, _ relationship: Int, to members: [T]) -> Bool {
        guard acceptsReplacement(of: object, relationship, by: members) else { return false }
        let entry = entry(object._$state.entityIndex)
        let key = RelationshipKey(entityIndex: entry.entityIndex, relationship: Int32(relationship), rowID: object._$state.rowID)
        do {
            let before = try memberRowIDs(of: object, key)
            if before != members.map({ $0._$state.rowID }) { willChange(object) }
            let known = Set(before)
            var wanted = OrderedRowIDs()
            for member in members { wanted.append(member._$state.rowID) }
            let after = wanted.rowIDs
            for target in before where !wanted.contains(target) { unlink(key, entry, target) }
            let added = after.filter { !known.contains($0) }
            for target in added { link(key, entry, target) }
            if before.filter(wanted.contains) + added != after { arrange(key, after) }
            deferredErrors.resolve(key)
            return true
        } catch {
            deferredErrors.add(described(error, entry, key.rowID), for: key)
            return false
        }
    }

    private func arrange(_ key: RelationshipKey, _ rowIDs: [Int64]) {
        relationshipChanges.arrange(key, rowIDs)
        setMembers(key, rowIDs)
    }

    /// Applies an order requested by another transaction to a list that may contain further members in the meantime.
    func rearrange(_ key: RelationshipKey, _ order: MemberOrder) throws {
        settleMembers()
        let now = try memberRowIDs(of: anyObject(key.entityIndex, key.rowID), key)
        let wanted = order.applied(to: now)
        if wanted != now { arrange(key, wanted) }
    }

    /// Returns the changed positions of all ordered relationships of a store.
    func pendingPositions(_ store: PersistentStore) throws -> PendingPositions {
        settleMembers()
        var found = PendingPositions()
        guard relationshipChanges.hasOrders else { return found }
        let all = relationshipChanges.all(where: { store.entityIndexes.contains($0.entityIndex) })
        let stored = try storedLists(all)
        for (key, changes) in all {
            let entry = entry(key.entityIndex)
            let relationship = entry.entity.relationships[Int(key.relationship)]
            guard relationship.isOrdered, !anyObject(key.entityIndex, key.rowID).isDeleted else { continue }
            for (target, position) in try positions(key, relationship, changes, entry, stored) {
                switch relationship.storage {
                case .inverse:
                    guard let field = relationship.positionField else { continue }
                    found.fields[.init(entityIndex: entry.destinations[relationship.index], field: field, rowID: target)] = position
                case .link(let table, isReversed: false):
                    found.links[.init(table: table, source: key.rowID, target: target), default: .init()].target = position
                case .link(let table, isReversed: true):
                    found.links[.init(table: table, source: target, target: key.rowID), default: .init()].source = position
                case .foreignKey: continue
                }
            }
        }
        return found
    }

    /// An ordered relationship of an entity.
    private struct ListKey: Hashable {
        let entityIndex: Int32
        let relationship: Int32

        init(_ key: RelationshipKey) { (entityIndex, relationship) = (key.entityIndex, key.relationship) }
    }

    /// Reads the stored lists that change, with one query for each relationship that changes in several objects.
    private func storedLists(_ all: [(key: RelationshipKey, changes: MemberChanges)]) throws -> [ListKey: RelatedIDs] {
        var keys: [ListKey: [Int64]] = [:]
        for (key, changes) in all {
            guard case .whole = changes.order else { continue }
            let relationship = entry(key.entityIndex).entity.relationships[Int(key.relationship)]
            let object = anyObject(key.entityIndex, key.rowID)
            if relationship.isOrdered, !object.isInserted, !object.isDeleted { keys[ListKey(key), default: []].append(key.rowID) }
        }
        var stored: [ListKey: RelatedIDs] = [:]
        for (key, sources) in keys where sources.count > 1 {
            let entry = entry(key.entityIndex)
            stored[key] = try storage(entry.store).related(entry.entity.relationships[Int(key.relationship)], of: sources.sorted())
        }
        return stored
    }

    /// Returns the changed positions of one relationship.
    private func positions(
        _ key: RelationshipKey, _ relationship: Relationship, _ changes: MemberChanges, _ entry: StoreEntity, _ read: [ListKey: RelatedIDs]
    ) throws -> [(rowID: Int64, position: Int64)] {
        let isNew = anyObject(key.entityIndex, key.rowID).isInserted
        if case .unordered = changes.order { return [] }
        if case .appended(let keys) = changes.order {
            let keys = keys.rowIDs
            if keys.isEmpty { return [] }
            let last = isNew ? nil : try lastPosition(key, relationship, entry)
            if let positions = ListPositions.after(last, count: keys.count) { return Array(zip(keys, positions)) }
        }
        let stored: RelatedIDs
        if isNew {
            stored = RelatedIDs()
        } else if case .whole = changes.order, let known = read[ListKey(key)] {
            stored = known
        } else {
            stored = try storage(entry.store).related(relationship, of: [key.rowID])
        }
        let storedPositions = Dictionary(zip(stored[key.rowID], stored.positions(of: key.rowID)), uniquingKeysWith: { first, _ in first })
        return ListPositions.changes(changes.applied(to: stored[key.rowID]), storedPositions)
    }

    /// Returns the position of the last member in the store, or nil if there is none.
    private func lastPosition(_ key: RelationshipKey, _ relationship: Relationship, _ entry: StoreEntity) throws -> Int64? {
        let storage = try storage(entry.store)
        guard case .inverse(let field) = relationship.storage, let position = relationship.positionField else {
            return try storage.related(relationship, of: [key.rowID]).positions(of: key.rowID).last
        }
        // Reads the last entry of the index, independent of the length of the list.
        let target = self.entry(entry.destinations[relationship.index]).entity
        var request = FetchRequest(
            target, predicate: .compare(FieldReference(target.fields[field]), .equal, .integer(key.rowID)),
            sortKeys: [SortKey(FieldReference(target.fields[position]), ascending: false)], limit: 1)
        var fields = FieldMask()
        fields.insert(position)
        request.fields = fields
        let cursor = try storage.fetch(request)
        defer { cursor.close() }
        guard try cursor.next(), !cursor.record.isNull(position) else { return nil }
        return cursor.record.integer64(position)
    }

    /// Returns the number of positions that the transaction would write now; for tests.
    package func pendingPositionCount() throws -> Int {
        try table.stores.reduce(0) { count, store in
            let found = try pendingPositions(store)
            return count + found.fields.count + found.links.count
        }
    }
}
