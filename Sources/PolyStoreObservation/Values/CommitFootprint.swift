import PolyStoreBackend
import PolyStoreKernel

/// The entities, fields and link tables that commits changed, independent of the number of objects.
struct CommitFootprint {
    /// The changed fields, by the entity index. An insertion or deletion includes all fields.
    private(set) var fields: [Int32: FieldMask] = [:]
    private(set) var tables: Set<LinkTableKey> = []
    /// A Boolean value that indicates whether other data may have changed too.
    var isUnknown = false

    mutating func add(_ commit: Commit) {
        if commit.changesAreUnknown { isUnknown = true }
        for part in commit.parts {
            for change in part.changes.changes {
                let entityIndex = part.store.firstEntityIndex + Int32(change.entity)
                if change.kind == .update {
                    fields[entityIndex, default: FieldMask()].formUnion(change.mask)
                } else {
                    fields[entityIndex] = FieldMask(first: FieldMask.capacity)
                }
            }
            for link in part.changes.links { tables.insert(LinkTableKey(store: part.store.index, table: link.table)) }
            for key in part.relationships {
                let relationship = commit.table.entries[Int(key.entityIndex)].entity.relationships[Int(key.relationship)]
                guard case .link(let table, _) = relationship.storage else { continue }
                tables.insert(LinkTableKey(store: part.store.index, table: table))
            }
        }
    }
}
