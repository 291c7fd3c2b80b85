import PolyStoreBackend

/// A complete change set: each object once, with both ends of every relationship.
struct OracleChanges {
    enum Change {
        case insert([Value])
        case update([Int: Value])
        case delete
    }

    /// The changed objects in the order of their changes.
    var keys: [OracleModel.ObjectKey] = []
    var changes: [OracleModel.ObjectKey: Change] = [:]
    var links: [ChangeSet.LinkChange] = []

    mutating func add(_ key: OracleModel.ObjectKey, _ change: Change) {
        if changes.updateValue(change, forKey: key) == nil { keys.append(key) }
    }

    /// Returns the change set in the framework's form.
    func changeSet(_ schema: ResolvedSchema) throws -> ChangeSet {
        let set = ChangeSet(schema)
        for key in keys {
            let entity = schema.entities[key.entity]
            switch changes[key] {
            case .insert(let row): try set.insert(entity, rowID: key.id, row)
            case .update(let fields):
                var mask = FieldMask()
                for fieldIndex in fields.keys { mask.insert(fieldIndex) }
                try set.update(entity, rowID: key.id, mask: mask) { builder in
                    for (fieldIndex, value) in fields.sorted(by: { $0.key < $1.key }) { try builder.set(entity.fields[fieldIndex], value) }
                }
            case .delete: set.delete(entity, rowID: key.id)
            case nil: break
            }
        }
        for link in links { set.link(link) }
        return set
    }
}
