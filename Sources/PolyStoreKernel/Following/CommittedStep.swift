import PolyStoreBackend

/// The changes of one or several commits by object: the step from one snapshot of the stores to a later one.
package final class CommittedStep {
    /// The changes of one object.
    package struct Row {
        package let rowID: Int64
        /// The changed properties; empty for a new object.
        package var mask = FieldMask()
        package var wasInserted = false
        package var wasDeleted = false
        /// A Boolean value that indicates whether the object did not exist before the step.
        fileprivate(set) var isNew = false
        /// The changed to-many relationships.
        package var relationships: [Int32] = []
        /// The latest record; `nil` if the object was deleted or only a to-many relationship changed.
        package fileprivate(set) var source: (changes: ChangeSet, change: ChangeSet.Change)?

        /// The latest record, if the step contains it.
        package var record: RecordView? { source.map { $0.changes.record($0.change) } }

        /// A Boolean value that indicates whether the step changes the object or one of its to-many relationships.
        package var isUpdate: Bool { wasInserted || wasDeleted || !mask.isEmpty || !relationships.isEmpty }
    }

    /// The rows by entity index, each once.
    package private(set) var rows: [Int32: [Row]] = [:]
    private var indexes: [RowReference: Int] = [:]
    /// The changed to-many relationships, by entity index and relationship index.
    package private(set) var relationships: [Int32: Set<Int32>] = [:]

    func add(_ commit: CommittedChanges, _ table: StoreTable) {
        for change in commit.changes.changes {
            let entityIndex = commit.store.firstEntityIndex + Int32(change.entity)
            guard change.concernsProperties(of: table.entries[Int(entityIndex)]) else { continue }
            update(entityIndex, change.rowID) { row in
                row.source = change.kind == .delete ? nil : (commit.changes, change)
                switch change.kind {
                case .insert:
                    // A deleted object can be inserted again.
                    if !row.wasInserted, !row.wasDeleted, row.mask.isEmpty { row.isNew = true }
                    row.wasInserted = true
                case .update: row.mask.formUnion(change.mask)
                case .delete: row.wasDeleted = true
                }
            }
        }
        for key in commit.relationships { add(key) }
    }

    /// Adds a changed to-many relationship.
    func add(_ key: RelationshipKey) {
        relationships[key.entityIndex, default: []].insert(key.relationship)
        update(key.entityIndex, key.rowID) { row in
            if !row.relationships.contains(key.relationship) { row.relationships.append(key.relationship) }
        }
    }

    private func update(_ entityIndex: Int32, _ rowID: Int64, _ change: (inout Row) -> Void) {
        let key = RowReference(entityIndex: entityIndex, rowID: rowID)
        let index: Int
        if let known = indexes[key] {
            index = known
        } else {
            index = rows[entityIndex]?.count ?? 0
            indexes[key] = index
            rows[entityIndex, default: []].append(Row(rowID: rowID))
        }
        rows[entityIndex]?.withUnsafeMutableBufferPointer { change(&$0[index]) }
    }

    /// Removes changes without effect: properties that were set to their previous values, and reverted changes.
    /// - Parameters:
    ///   - old: Returns the snapshot of a store before the step; `nil` if there is none.
    ///   - new: Returns the snapshot of a store after the step.
    ///   - isReported: Returns whether an entity has observers; the objects of others are left unchanged.
    func settle(
        _ entries: [StoreEntity], where isReported: (Int32) -> Bool, old: (PersistentStore) -> (any ReadTransaction)?,
        new: (PersistentStore) -> (any ReadTransaction)?
    ) throws {
        for entityIndex in rows.keys where isReported(entityIndex) {
            let entry = entries[Int(entityIndex)]
            guard let before = old(entry.store), let after = new(entry.store), var changed = rows[entityIndex] else { continue }
            try settleRelationships(&changed, entry, before, after)
            for index in changed.indices where !changed[index].wasInserted && !changed[index].mask.isEmpty {
                guard let now = changed[index].record, let then = try before.record(entry.entity, rowID: changed[index].rowID) else {
                    continue
                }
                for field in changed[index].mask.indexes
                where now.value(entry.entity.fields[field]) == then.value(entry.entity.fields[field]) {
                    changed[index].mask.remove(field)
                }
            }
            changed.removeAll { !$0.isUpdate || $0.isNew && $0.wasDeleted && $0.source == nil }
            for row in rows[entityIndex] ?? [] { indexes[RowReference(entityIndex: entityIndex, rowID: row.rowID)] = nil }
            for (index, row) in changed.enumerated() { indexes[RowReference(entityIndex: entityIndex, rowID: row.rowID)] = index }
            rows[entityIndex] = changed.isEmpty ? nil : changed
        }
    }

    /// Removes to-many relationships with unchanged targets.
    private func settleRelationships(
        _ changed: inout [Row], _ entry: StoreEntity, _ before: any ReadTransaction, _ after: any ReadTransaction
    ) throws {
        for relationshipIndex in relationships[entry.entityIndex] ?? [] {
            let relationship = entry.entity.relationships[Int(relationshipIndex)]
            let ids = changed.lazy.filter { $0.relationships.contains(relationshipIndex) }.map(\.rowID).sorted()
            let (old, new) = (try before.related(relationship, of: ids), try after.related(relationship, of: ids))
            for index in changed.indices where changed[index].relationships.contains(relationshipIndex) {
                let id = changed[index].rowID
                if old[id] == new[id] { changed[index].relationships.removeAll { $0 == relationshipIndex } }
            }
        }
    }

    package func row(_ entityIndex: Int32, _ rowID: Int64) -> Row? {
        indexes[RowReference(entityIndex: entityIndex, rowID: rowID)].flatMap { rows[entityIndex]?[$0] }
    }
}

extension ChangeSet.Change {
    /// Returns whether the change affects more than the object's position in an ordered relationship, which is a hidden field of the object.
    func concernsProperties(of entry: StoreEntity) -> Bool { kind != .update || !mask.isDisjoint(with: entry.declaredFields) }
}
