import PolyStoreBackend
import PolyStoreCollections

extension Transaction {
    /// Returns the changed positions of all ordered relationships of a store.
    func pendingPositions(_ store: PersistentStore) throws -> PendingPositions {
        settleMembers()
        var found = PendingPositions()
        guard buffer.relationshipChanges.hasOrders else { return found }
        let all = buffer.relationshipChanges.all(where: { store.entityIndexes.contains($0.entityIndex) })
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

    /// The largest number of members of all lists that only grow and are read nevertheless.
    private static let mostShortMembers = 20_000

    /// Reads the stored lists that change, with one query for each relationship that changes in several objects. From a store that waits for a
    /// server, also those that only grow, if they are known to be short.
    private func storedLists(_ all: [(key: RelationshipKey, changes: MemberChanges)]) throws -> [RelationshipKey: RelatedIDs] {
        var sources: [ListKey: [RelationshipKey]] = [:]
        var members = 0
        for (key, changes) in all {
            let entry = entry(key.entityIndex)
            switch changes.order {
            case .whole: break
            case .appended where entry.store.waitsForServer:
                guard let count = graph.memberLists.count(key), members + count <= Self.mostShortMembers else { continue }
                members += count
            default: continue
            }
            let relationship = entry.entity.relationships[Int(key.relationship)]
            let object = anyObject(key.entityIndex, key.rowID)
            if relationship.isOrdered, !object.isInserted, !object.isDeleted { sources[ListKey(key), default: []].append(key) }
        }
        var stored: [RelationshipKey: RelatedIDs] = [:]
        for (list, keys) in sources where keys.count > 1 {
            let entry = entry(list.entityIndex)
            let related = try storage(entry.store).related(
                entry.entity.relationships[Int(list.relationship)], of: keys.map(\.rowID).sorted())
            for key in keys { stored[key] = related }
        }
        return stored
    }

    /// Returns the changed positions of one relationship.
    private func positions(
        _ key: RelationshipKey, _ relationship: Relationship, _ changes: MemberChanges, _ entry: StoreEntity,
        _ read: [RelationshipKey: RelatedIDs]
    ) throws -> [(rowID: Int64, position: Int64)] {
        let isNew = anyObject(key.entityIndex, key.rowID).isInserted
        if case .unordered = changes.order { return [] }
        if case .appended(var appended) = changes.order {
            let rowIDs = appended.rowIDs
            if rowIDs.isEmpty { return [] }
            // All positions precede those that a list without positions would get.
            let known = read[key].map { $0.positions(of: key.rowID).last.flatMap { $0 == .min ? nil : $0 } }
            let last = isNew ? nil : try known ?? lastPosition(key, relationship, entry)
            if let positions = ListPositions.after(last, count: rowIDs.count) { return Array(zip(rowIDs, positions)) }
        }
        let stored: RelatedIDs
        if isNew {
            stored = RelatedIDs()
        } else if case .whole = changes.order, let known = read[key] {
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
