import PolyStoreBackend

extension OracleModel {
    /// The reason why a change set must be rejected: the acceptable error codes, and the objects that cause it.
    struct Refusal {
        var codes: Set<StoreError.Code> = []
        var objects: Set<ObjectKey> = []

        mutating func add(_ code: StoreError.Code, _ key: ObjectKey) {
            codes.insert(code)
            objects.insert(key)
        }
    }

    /// Applies a change set unless it must be rejected.
    /// - Returns: `nil` if it was applied.
    mutating func apply(_ changes: OracleChanges) -> Refusal? {
        var after = self
        var refusal = Refusal()
        for key in changes.keys {
            let fields = schema.entities[key.entity].fields
            let old = rows[key.entity][key.id]
            switch changes.changes[key] {
            case .insert(let row):
                if old != nil { refusal.add(.constraint, key) }
                for field in fields where !field.isOptional && row[field.index].isNull { refusal.add(.constraint, key) }
                if old == nil { after.rows[key.entity][key.id] = row.map(OracleValues.kept) }
            case .update(let values):
                for (fieldIndex, value) in values where !fields[fieldIndex].isOptional && value.isNull { refusal.add(.constraint, key) }
                if old == nil { refusal.add(.notFound, key) }
                for (fieldIndex, value) in values { after.rows[key.entity][key.id]?[fieldIndex] = OracleValues.kept(value) }
            case .delete:
                if old == nil { refusal.add(.notFound, key) }
                after.rows[key.entity][key.id] = nil
            case nil: break
            }
        }
        after.checkUniqueness(changes, &refusal)
        guard refusal.codes.isEmpty else { return refusal }
        for link in changes.links {
            let pair = Pair(source: link.source, target: link.target)
            guard link.isAddition else {
                after.links[link.table][pair] = nil
                continue
            }
            var positions = after.links[link.table][pair] ?? LinkPositions()
            if let position = link.targetPosition { positions.target = position }
            if let position = link.sourcePosition { positions.source = position }
            after.links[link.table][pair] = positions
        }
        self = after
        return nil
    }

    /// Compares every changed object with every other one, in the final state.
    private func checkUniqueness(_ changes: OracleChanges, _ refusal: inout Refusal) {
        for entity in schema.entities {
            for index in entity.indexes where index.isUnique {
                for key in changes.keys where key.entity == entity.index {
                    guard let mine = rows[entity.index][key.id], !index.fields.contains(where: { mine[$0].isNull }) else { continue }
                    for (id, other) in rows[entity.index] where id != key.id {
                        if index.fields.allSatisfy({ OracleValues.same(mine[$0], other[$0]) }) { refusal.add(.constraint, key) }
                    }
                }
            }
        }
    }
}
