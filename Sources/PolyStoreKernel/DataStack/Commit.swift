import PolyStoreBackend

/// The changes of one committed transaction, as delivered by ``DataStack/commits`` and ``DataStack/observeCommits(_:)``.
///
/// It is Sendable. The ids can be used in any context, and the keys name the changed properties.
public struct Commit: Sendable {
    /// The ``Transaction/sourceIdentifier`` of the transaction, which identifies the origin of the changes; nil if it did not specify one.
    public let sourceIdentifier: (any Hashable & Sendable)?
    /// Additional information specified by the transaction.
    public let userInfo: [String: any Sendable]
    /// A Boolean value that indicates whether another process or another stack of this process committed the changes. The source is then the author
    /// recorded in the store's history.
    public private(set) var isExternal = false
    /// A Boolean value that indicates whether the changes are unknown, because another process or stack wrote to a store without recording a history. Read the
    /// objects again.
    public private(set) var changesAreUnknown = false
    /// The changes of each store, in the order of the stack.
    package let parts: [CommittedChanges]
    package let table: StoreTable

    init(
        sourceIdentifier: (any Hashable & Sendable)?, userInfo: [String: any Sendable], isExternal: Bool = false, parts: [CommittedChanges],
        table: StoreTable
    ) {
        self.sourceIdentifier = sourceIdentifier
        self.userInfo = userInfo
        self.isExternal = isExternal
        self.parts = parts
        self.table = table
    }

    /// Creates an external commit with unknown changes.
    init(ofUnknownChangesIn table: StoreTable) {
        self.init(sourceIdentifier: nil, userInfo: [:], isExternal: true, parts: [], table: table)
        changesAreUnknown = true
    }

    /// Returns the ids of the created objects of a class.
    public func insertedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .insert) }
    /// Returns the ids of the objects of a class whose attributes or to-one relationships were changed.
    public func updatedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .update) }
    /// Returns the ids of the deleted objects of a class. A context that has moved to the commit no longer finds them.
    public func deletedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .delete) }

    /// Returns the stored names of the changed properties of an object, including to-many relationships. For a created object, these are all of its
    /// properties.
    public func changedKeys<T: Model>(of id: ObjectID<T>) -> Set<String> {
        var keys: Set<String> = []
        for part in parts where part.store === id.entry.store {
            let entity = id.entry.entity
            for change in part.changes.changes where change.entity == entity.index && change.rowID == id.rowID {
                switch change.kind {
                case .insert:
                    let kind = try? id.entry.hierarchy?.entityClass(part.changes.record(change))
                    let fields = kind?.fields ?? id.entry.declaredFields
                    keys.formUnion(fields.indexes.map { entity.fields[$0].name })
                    keys.formUnion((kind?.relationships.map { entity.relationships[$0] } ?? entity.relationships).map(\.name))
                case .update:
                    keys.formUnion(change.mask.indexes.filter(id.entry.declaredFields.contains).map { entity.fields[$0].name })
                case .delete: break
                }
            }
            for key in part.relationships where key.entityIndex == id.entry.entityIndex && key.rowID == id.rowID {
                keys.insert(entity.relationships[Int(key.relationship)].name)
            }
        }
        return keys
    }

    private func ids<T: Model>(_ type: T.Type, _ kind: ChangeSet.Kind) -> Set<ObjectID<T>> {
        var found: Set<ObjectID<T>> = []
        for entry in table.byType[ObjectIdentifier(type)] ?? [] {
            let names = entry.hierarchy?.entityClass(type)?.concreteNames
            for part in parts where part.store === entry.store {
                for change in part.changes.changes where change.kind == kind && change.entity == entry.entity.index {
                    guard change.concernsProperties(of: entry) else { continue }
                    if let names, !names.contains(part.kind(of: change, entry)) { continue }
                    found.insert(ObjectID(entry: entry, rowID: change.rowID))
                }
            }
        }
        return found
    }
}

extension CommittedChanges {
    /// Returns the entity name of a changed object in a class hierarchy.
    fileprivate func kind(of change: ChangeSet.Change, _ entry: StoreEntity) -> String {
        guard change.kind != .delete else { return deletedKinds[RowReference(entityIndex: entry.entityIndex, rowID: change.rowID)] ?? "" }
        // Records in a change set are complete, independent of the changed fields.
        return (try? entry.hierarchy?.entityClass(changes.record(change)).name) ?? ""
    }
}
