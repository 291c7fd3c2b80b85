import PolyStoreBackend

extension Transaction {
    /// Returns the change set for one store, or nil if it is empty.
    func changeSet(_ store: PersistentStore) throws -> ChangeSet? {
        let entityIndexes = buffer.changedEntities(of: store)
        let values = buffer.storeValues[store.index] ?? [:]
        let removal = buffer.historyRemovals[store.index]
        guard
            !values.isEmpty || removal != nil || buffer.relationshipChanges.hasLinks || buffer.relationshipChanges.hasOrders
                || !entityIndexes.isEmpty || !buffer.unverified.isEmpty
        else {
            return nil
        }
        var positions = try pendingPositions(store)
        let count = entityIndexes.reduce(0) { $0 + buffer.changes(of: $1).writtenCount }
        let changes = ChangeSet(store.schema, capacity: max(4096, count * 256))
        changes.reserve(count)
        for entityIndex in entityIndexes {
            let entry = table.entries[entityIndex]
            let entityChanges = buffer.changes(of: entityIndex)
            for object in entityChanges.inserted where !object.isDeleted {
                var mask = FieldMask()
                let fieldPositions = positions.take(entry, object, &mask)
                try describing(entry, object) {
                    try changes.insert(entry.entity, rowID: object._$state.rowID) {
                        try entry.encode(object, into: &$0, positions: fieldPositions)
                    }
                }
            }
            for object in entityChanges.updated where !object.isDeleted {
                guard var mask = object._$state.edit?.mask, !mask.isEmpty else { continue }
                let fieldPositions = positions.take(entry, object, &mask)
                try describing(entry, object) {
                    try changes.update(entry.entity, rowID: object._$state.rowID, mask: mask) {
                        try entry.encode(object, into: &$0, positions: fieldPositions)
                    }
                }
            }
            for object in entityChanges.deleted { changes.delete(entry.entity, rowID: object._$state.rowID) }
        }
        try addMoves(&positions, to: changes)
        addLinks(&positions, to: changes, store)
        if !buffer.unverified.isEmpty { requireTargets(in: changes, store) }
        for (_, value) in values.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            try changes.setValue(value.bytes, named: value.name)
        }
        if let removal { changes.removeLogEntries(through: removal) }
        return changes
    }

    /// Adds updates of objects that only change their position. They are written without loading the objects.
    private func addMoves(_ positions: inout PendingPositions, to changes: ChangeSet) throws {
        if positions.fields.isEmpty { return }
        var masks: [RelationshipKey: FieldMask] = [:]
        for field in positions.fields.keys {
            masks[RelationshipKey(entityIndex: field.entityIndex, relationship: 0, rowID: field.rowID), default: FieldMask()].insert(
                field.field)
        }
        for (object, mask) in masks.sorted(by: { ($0.key.entityIndex, $0.key.rowID) < ($1.key.entityIndex, $1.key.rowID) }) {
            try changes.update(entry(object.entityIndex).entity, rowID: object.rowID, mask: mask) { builder in
                for field in mask.indexes {
                    let key = PendingPositions.PositionField(entityIndex: object.entityIndex, field: field, rowID: object.rowID)
                    if let position = positions.fields[key] { builder.setInteger(field, position) }
                }
            }
        }
    }

    private func addLinks(_ positions: inout PendingPositions, to changes: ChangeSet, _ store: PersistentStore) {
        if buffer.relationshipChanges.hasLinks {
            for (key, net) in buffer.relationshipChanges.all(where: { store.entityIndexes.contains($0.entityIndex) }) {
                guard case .link(let table, isReversed: false) = entry(key.entityIndex).entity.relationships[Int(key.relationship)].storage
                else { continue }
                for target in net.removed.sorted() {
                    changes.link(ChangeSet.LinkChange(table: table, source: key.rowID, target: target, isAddition: false))
                }
                for target in net.added.sorted() {
                    let linkPositions = positions.links.removeValue(forKey: .init(table: table, source: key.rowID, target: target))
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table, source: key.rowID, target: target, isAddition: true, targetPosition: linkPositions?.target,
                            sourcePosition: linkPositions?.source))
                }
            }
        }
        if positions.links.isEmpty { return }
        // Existing pairs with new positions.
        let moved = positions.links.sorted { ($0.key.table, $0.key.source, $0.key.target) < ($1.key.table, $1.key.source, $1.key.target) }
        for (pair, linkPositions) in moved {
            changes.link(
                ChangeSet.LinkChange(
                    table: pair.table, source: pair.source, target: pair.target, isAddition: true, targetPosition: linkPositions.target,
                    sourcePosition: linkPositions.source))
        }
    }

    final func describing(_ entry: StoreEntity, _ object: any Model, _ body: () throws -> Void) throws {
        do { try body() } catch { throw described(error, entry, object._$state.rowID) }
    }
}
