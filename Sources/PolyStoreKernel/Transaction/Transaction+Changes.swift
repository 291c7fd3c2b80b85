import PolyStoreBackend
import PolyStoreCollections

// The pending changes of a transaction. An object that is created and deleted in one transaction is in none of the sets.

extension Transaction {
    /// Returns the created objects of a class.
    public func insertedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> {
        Set(inserted(entityIndexes(of: type)).compactMap { $0 as? T })
    }

    /// Returns the updated objects of a class, including those whose to-many relationships were changed. An object whose values were set back to the
    /// original ones is included; ``Model/hasPersistentChangedValues()`` excludes it.
    public func updatedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> {
        Set(updated(entityIndexes(of: type)).compactMap { $0 as? T })
    }

    /// Returns the deleted objects of a class, including those deleted by delete rules. Created objects are not included.
    public func deletedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> {
        Set(deleted(entityIndexes(of: type)).compactMap { $0 as? T })
    }

    /// Returns the ids of the created objects of a class.
    public func insertedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(insertedObjects(type).map(\.objectID)) }
    /// Returns the ids of the updated objects of a class; see ``updatedObjects(_:)``.
    public func updatedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(updatedObjects(type).map(\.objectID)) }
    /// Returns the ids of the deleted objects of a class.
    public func deletedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(deletedObjects(type).map(\.objectID)) }

    /// Returns the ids of all created objects.
    public func insertedObjectIDs() -> Set<AnyObjectID> { Set(inserted(buffer.pending.indexes).map { $0.anyID }) }
    /// Returns the ids of all updated objects; see ``updatedObjects(_:)``.
    public func updatedObjectIDs() -> Set<AnyObjectID> { Set(updated(table.entries.indices).map { $0.anyID }) }
    /// Returns the ids of all deleted objects.
    public func deletedObjectIDs() -> Set<AnyObjectID> { Set(deleted(buffer.pending.indexes).map { $0.anyID }) }

    // MARK: Lists

    /// Returns the entity indexes of a class. They include the other classes of its hierarchy.
    private func entityIndexes<T: Model>(of type: T.Type) -> [Int] {
        (table.byType[ObjectIdentifier(type)] ?? []).map { Int($0.entityIndex) }
    }

    private func inserted(_ entityIndexes: [Int]) -> [any Model] {
        entityIndexes.flatMap { buffer[$0]?.inserted.filter { !$0.isDeleted } ?? [] }
    }

    private func deleted(_ entityIndexes: [Int]) -> [any Model] { entityIndexes.flatMap { buffer[$0]?.deleted ?? [] } }

    private func updated(_ entityIndexes: some Collection<Int>) -> [any Model] {
        settleMembers()
        var found: [any Model] = entityIndexes.flatMap { entityIndex in
            buffer[entityIndex]?.updated.filter { !$0.isDeleted && !($0._$state.edit?.mask.isEmpty ?? true) } ?? []
        }
        for key in buffer.relationshipChanges.changedRelationships where entityIndexes.contains(Int(key.entityIndex)) {
            guard let changes = buffer.relationshipChanges.changes(key), !changes.isEmpty else { continue }
            let object = anyObject(key.entityIndex, key.rowID)
            if !object.isDeleted, !object.isInserted { found.append(object) }
        }
        return found
    }
}

extension MemberChanges {
    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order.isEmpty }
}

extension Model {
    /// The untyped id of the object.
    var anyID: AnyObjectID { AnyObjectID(entry: _$state.context.entry(_$state.entityIndex), rowID: _$state.rowID) }
}
