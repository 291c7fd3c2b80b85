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
    /// The fingerprints of the attributes and to-one relationships of each object. To-many relationships are among the changes of their targets.
    let values: [AnyObjectID: String]

    /// The object itself.
    var subject: NamedObject? { named.first }

    /// No objects.
    static let none = DeletedObjects(ids: [], named: [], counts: [:], values: [:])

    private init(ids: [AnyObjectID], named: [NamedObject], counts: [String: Int], values: [AnyObjectID: String]) {
        (self.ids, self.named, self.counts, self.values) = (ids, named, counts, values)
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
        (counts, values) = try Self.contents(ids, in: transaction, store)
    }

    private static func contents(
        _ ids: [AnyObjectID], in transaction: Transaction, _ store: BrowserStore
    ) throws -> (counts: [String: Int], values: [AnyObjectID: String]) {
        var (counts, values) = ([String: Int](), [AnyObjectID: String]())
        for (entity, ids) in Dictionary(grouping: ids, by: \.entityName) {
            for start in stride(from: 0, to: ids.count, by: batch) {
                let query = EntityQuery(entity).where("objectID IN %@", Array(ids[start..<min(start + batch, ids.count)]))
                for object in try transaction.fetchAll(query) {
                    counts[object.entityName, default: 0] += 1
                    var fingerprint = Fingerprint()
                    try SeenValues(object, store.model(object.entityName), members: [:]).add(to: &fingerprint)
                    values[object.id] = fingerprint.text
                }
            }
        }
        return (counts, values)
    }
}
