import PolyStoreBackend
import PolyStoreKernel

// The phases that fill link tables and check references after the objects of both ends have been written.
extension MappingWork {
    func fill(_ fill: MigrationPlan.LinkFill) throws {
        let (origin, new) = (fill.origin, fill.origin.relationship)
        try forEachBatch(of: origin.source, in: .source, "\(origin.source.name).\(origin.own?.name ?? new.name)") { ids in
            let changes = ChangeSet(plan.target)
            try forEachList(origin, ids) { owner, targets in
                for (position, target) in targets.enumerated() where try exists(new.destination, target) {
                    let listPosition = new.isOrdered ? Int64(position) : nil
                    let isReversed = new.isReversedLink
                    changes.link(
                        ChangeSet.LinkChange(
                            table: fill.table.index, source: isReversed ? target : owner, target: isReversed ? owner : target,
                            isAddition: true, targetPosition: isReversed ? nil : listPosition,
                            sourcePosition: isReversed ? listPosition : nil))
                }
            }
            try apply(changes)
        }
    }

    /// Writes the positions of the targets of an ordered relationship with a to-one inverse.
    func writePositions(_ origin: LinkOrigin) throws {
        let relationship = origin.relationship
        let destination = plan.target.entities[relationship.destination]
        guard case .inverse(let field) = relationship.storage, let positionField = relationship.positionField else { return }
        var mask = FieldMask()
        mask.insert(positionField)
        try forEachBatch(of: origin.source, in: .source, "\(origin.source.name).\(origin.own?.name ?? relationship.name)") { ids in
            var changes = ChangeSet(plan.target)
            try forEachList(origin, ids) { owner, targets in
                for (position, target) in targets.enumerated() {
                    // A closure may have chosen another owner.
                    guard let record = try migration.target.record(destination, rowID: target), !record.isNull(field),
                        record.integer64(field) == owner
                    else { continue }
                    try changes.update(destination, rowID: target, mask: mask) { $0.setInteger(positionField, Int64(position)) }
                    if changes.changes.count == Self.batchSize {
                        try apply(changes)
                        changes = ChangeSet(plan.target)
                    }
                }
            }
            try apply(changes)
        }
    }

    /// Calls a closure with the new row id of each object that has targets, and theirs.
    private func forEachList(_ origin: LinkOrigin, _ ids: [Int64], _ body: (Int64, [Int64]) throws -> Void) throws {
        let relationship = origin.relationship
        let targets = try linkReader.targets(origin, ids)
        let nearOffset = offset(origin.source.index, relationship.source)
        for id in ids {
            guard let list = targets[id], !list.isEmpty else { continue }
            let owner = id &+ nearOffset
            guard try exists(relationship.source, owner) else { continue }
            try body(owner, list.map { $0.rowID &+ offset($0.entity, relationship.destination) })
        }
    }

    private func exists(_ entity: Int, _ id: Int64) throws -> Bool {
        guard plan.isLossy[entity] else { return true }
        return try migration.target.record(plan.target.entities[entity], rowID: id) != nil
    }

    // MARK: Checks

    /// Clears references to objects that are missing in the new version.
    func repair(_ entity: Entity) throws {
        let references = entity.relationships.compactMap { relationship -> (field: Int, position: Int?, destination: Int)? in
            guard case .foreignKey(let field) = relationship.storage, plan.isLossy[relationship.destination] else { return nil }
            let position = entity.fields.first { $0.positionAlong == relationship.index }?.index
            return (field, position, relationship.destination)
        }
        try forEachBatch(of: entity, in: .target, "references of \(entity.name)") { ids in
            let changes = ChangeSet(plan.target)
            for id in ids {
                guard let record = try migration.target.record(entity, rowID: id) else { continue }
                let found = references.map { (reference: $0, id: record.isNull($0.field) ? nil : record.integer64($0.field)) }
                var mask = FieldMask()
                for (reference, target) in found {
                    guard let target, try !exists(reference.destination, target) else { continue }
                    mask.insert(reference.field)
                    if let position = reference.position { mask.insert(position) }
                }
                if !mask.isEmpty { try changes.update(entity, rowID: id, mask: mask) { _ in } }
            }
            try apply(changes)
        }
    }

    /// Checks the relationships of an entity whose objects were rewritten.
    func validate(_ entity: Entity) throws {
        let required = entity.relationships.filter { $0.isRequired && !$0.isToMany }
        let counted = entity.relationships.filter { $0.isToMany && ($0.minCount > 0 || $0.maxCount != nil) }
        guard !required.isEmpty || !counted.isEmpty else { return }
        try forEachBatch(of: entity, in: .target, "checking \(entity.name)") { ids in
            for relationship in required {
                guard case .foreignKey(let field) = relationship.storage else { continue }
                let owners = entity.classes(with: relationship.index)
                for id in ids {
                    guard let record = try migration.target.record(entity, rowID: id), record.isNull(field), isOf(entity, record, owners)
                    else { continue }
                    throw StoreError(
                        .constraint,
                        "\(entity.name).\(relationship.name) of \(described(entity, id)) must lead to an object, and leads nowhere.",
                        entity: entity.name, attribute: relationship.name, rowID: id)
                }
            }
            for relationship in counted {
                let related = try migration.target.related(relationship, of: ids)
                let owners = entity.classes(with: relationship.index)
                for id in ids where !relationship.allows(related[id].count) {
                    guard let record = try migration.target.record(entity, rowID: id), isOf(entity, record, owners) else { continue }
                    throw relationship.miscounted(entity, id, described(entity, id), related[id].count)
                }
            }
        }
    }

    private func isOf(_ entity: Entity, _ record: RecordView, _ classes: Set<String>) -> Bool {
        entity.classifierField.map { classes.contains(record.string($0)) } ?? true
    }

    private enum Side { case source, target }

    private func rowIDs(_ request: FetchRequest, in store: any ReadTransaction) throws -> [Int64] {
        let cursor = try store.fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        return ids
    }

    /// Calls a closure with the row ids of an entity, batch by batch.
    private func forEachBatch(
        of entity: Entity, in side: Side, _ activity: String, _ body: ([Int64]) throws -> Void
    ) throws {
        while true {
            var request = FetchRequest(entity, limit: Self.batchSize)
            request.onlyIDs = true
            if position.rowID > .min { request.predicate = .compare(.objectID, .greater, .integer(position.rowID)) }
            let store: any ReadTransaction = side == .source ? source : migration.target
            let ids = try rowIDs(request, in: store)
            guard let last = ids.last else { return }
            try body(ids)
            position.rowID = last
            try progress(0, activity)
            try save()
        }
    }
}

extension Relationship {
    /// Returns whether the relationship permits a number of targets per object.
    func allows(_ count: Int) -> Bool { count >= minCount && count <= maxCount ?? .max }

    /// `2 or more`, `0 to 5`.
    var allowedCounts: String { "\(minCount)\(maxCount.map { " to \($0)" } ?? " or more")" }

    /// - Parameter object: The object in words.
    func miscounted(_ entity: Entity, _ id: Int64, _ object: String, _ count: Int) -> StoreError {
        StoreError(
            .constraint, "\(entity.name).\(name) of \(object) leads to \(count) objects, and \(allowedCounts) are allowed.",
            entity: entity.name,
            attribute: name, rowID: id)
    }
}
