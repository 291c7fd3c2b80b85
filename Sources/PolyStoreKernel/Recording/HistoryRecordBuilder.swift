import PolyStoreAttributes
import PolyStoreBackend

/// Collects the changes of one transaction to the objects of one store, grouped by equal changes.
struct HistoryRecordBuilder {
    private struct Shape: Hashable {
        let entity: String
        let kind: HistoryRecord.Kind
        let entityIndex: Int32
        let mask: FieldMask
        let relationships: [Int32]
    }

    private let store: PersistentStore
    private let table: StoreTable
    private let writer: any WriteTransaction
    private let recordsPreviousValues: Bool
    private(set) var groups: [HistoryRecord.Group] = []
    private var positions: [Shape: Int] = [:]

    init(_ store: PersistentStore, _ table: StoreTable, _ writer: any WriteTransaction, recordsPreviousValues: Bool) {
        self.store = store
        self.table = table
        self.writer = writer
        self.recordsPreviousValues = recordsPreviousValues
    }

    /// - Parameter published: The changed to-many relationships, and the entities of deleted objects of hierarchies.
    mutating func add(_ changes: ChangeSet, _ published: (relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String]))
        throws
    {
        var relationshipsByObject: [RowReference: [Int32]] = [:]
        for key in published.relationshipChanges.changedRelationships where store.entityIndexes.contains(key.entityIndex) {
            relationshipsByObject[key.owner, default: []].append(key.relationship)
        }
        for change in changes.changes {
            let entry = table.entries[Int(store.firstEntityIndex) + change.entity]
            let object = RowReference(entityIndex: entry.entityIndex, rowID: change.rowID)
            switch change.kind {
            case .insert:
                relationshipsByObject[object] = nil
                add(
                    object,
                    Shape(
                        entity: try entry.className(changes.record(change)), kind: .inserted, entityIndex: entry.entityIndex,
                        mask: FieldMask(),
                        relationships: []))
            case .update:
                let mask = entry.declaredFields.intersection(change.mask)
                let relationships = relationshipsByObject.removeValue(forKey: object)?.sorted() ?? []
                if mask.isEmpty, relationships.isEmpty { continue }
                // An update that changes only a position does not contain the object's class.
                let name = mask.isEmpty ? try storedName(entry, object) : try entry.className(changes.record(change))
                try update(entry, object, name, mask, relationships)
            case .delete:
                relationshipsByObject[object] = nil
                try delete(entry, object, published.deletedKinds[object] ?? entry.entity.name)
            }
        }
        for (object, relationships) in relationshipsByObject.sorted(by: {
            ($0.key.entityIndex, $0.key.rowID) < ($1.key.entityIndex, $1.key.rowID)
        }) {
            let entry = table.entries[Int(object.entityIndex)]
            // A deleted object has no relationships; its deletion is recorded separately.
            guard try writer.record(entry.entity, rowID: object.rowID) != nil else { continue }
            try update(entry, object, try storedName(entry, object), FieldMask(), relationships.sorted())
        }
    }

    private mutating func update(_ entry: StoreEntity, _ object: RowReference, _ name: String, _ mask: FieldMask, _ relationships: [Int32])
        throws
    {
        let shape = Shape(entity: name, kind: .updated, entityIndex: entry.entityIndex, mask: mask, relationships: relationships)
        let position = add(object, shape)
        guard recordsPreviousValues, let record = try writer.record(entry.entity, rowID: object.rowID) else { return }
        groups[position].values += mask.indexes.map { record.value(entry.entity.fields[$0]) } + relationships.map { _ in nil }
    }

    private mutating func delete(_ entry: StoreEntity, _ object: RowReference, _ name: String) throws {
        let record = recordsPreviousValues ? try writer.record(entry.entity, rowID: object.rowID) : nil
        let fields = entry.entity.classes.first { $0.name == name }?.fields ?? entry.declaredFields
        let mask = record == nil ? FieldMask() : fields
        let shape = Shape(entity: name, kind: .deleted, entityIndex: entry.entityIndex, mask: mask, relationships: [])
        let position = add(object, shape)
        guard let record else { return }
        groups[position].values += mask.indexes.map { record.value(entry.entity.fields[$0]) }
    }

    /// - Returns: The index of the object's group.
    @discardableResult
    private mutating func add(_ object: RowReference, _ shape: Shape) -> Int {
        if let position = positions[shape] {
            groups[position].ids.append(object.rowID)
            return position
        }
        let entity = table.entries[Int(shape.entityIndex)].entity
        let keys = shape.mask.indexes.map { entity.fields[$0].name } + shape.relationships.map { entity.relationships[Int($0)].name }
        positions[shape] = groups.count
        groups.append(HistoryRecord.Group(entity: shape.entity, kind: shape.kind, keys: keys, ids: [object.rowID]))
        return groups.count - 1
    }

    /// Returns the name of the entity of an object's class from the store.
    private func storedName(_ entry: StoreEntity, _ object: RowReference) throws -> String {
        guard entry.holdsHierarchy, let record = try writer.record(entry.entity, rowID: object.rowID) else { return entry.entity.name }
        return try entry.className(record)
    }
}
