import PolyStoreCore

/// The objects that are deleted with an object, read before the deletion.
struct DeletedObjects {
    /// The most row ids in one condition.
    private static let batch = 1_000

    /// The ids in order, that of the object itself included.
    let ids: [AnyObjectID]
    /// The names of the first ones, beginning with the object itself.
    let named: [NamedObject]
    /// The numbers by entity, in hierarchies by subentity.
    let counts: [String: Int]

    /// The object itself.
    var subject: NamedObject? { named.first }

    /// No objects.
    static let none = DeletedObjects(ids: [], named: [], counts: [:])

    private init(ids: [AnyObjectID], named: [NamedObject], counts: [String: Int]) {
        (self.ids, self.named, self.counts) = (ids, named, counts)
    }

    /// Reads what the deletion of an object of a transaction deletes, without deleting it there.
    init(deleting object: DynamicObject, in transaction: Transaction, _ store: BrowserStore) throws {
        // A child transaction applies the delete rules, and is then discarded. This transaction still has the names.
        let child = transaction.beginUnsafe()
        try child.delete(child.edit(object.id))
        let subject = object.id
        ids = child.deletedObjectIDs().sorted {
            ($0 == subject ? 0 : 1, $0.entityName, $0.rowID) < ($1 == subject ? 0 : 1, $1.entityName, $1.rowID)
        }
        child.rollback()
        let names = NameReader(store: store, context: transaction)
        named = try ids.prefix(ChangePreview.limit).map(names.named)
        counts = try Self.counts(ids, in: transaction, store)
    }

    private static func counts(_ ids: [AnyObjectID], in transaction: Transaction, _ store: BrowserStore) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for (entity, ids) in Dictionary(grouping: ids, by: \.entityName) {
            guard try store.model(entity).root.hierarchy != nil else {
                counts[entity] = ids.count
                continue
            }
            for start in stride(from: 0, to: ids.count, by: batch) {
                let query = EntityQuery(entity).where("objectID IN %@", Array(ids[start..<min(start + batch, ids.count)]))
                for object in try transaction.fetchAll(query) { counts[object.entityName, default: 0] += 1 }
            }
        }
        return counts
    }
}
