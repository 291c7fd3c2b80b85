import PolyStoreBackend

// What a transaction has done so far. An object that is created and deleted in one transaction is in none of the sets.

extension Transaction {
    /// The objects of a class that were created.
    public func insertedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> { Set(inserted(slots(of: type)).compactMap { $0 as? T }) }

    /// The objects of a class that were in the store and are changed; those whose to-many relationships changed are among them. One that was changed back
    /// is still in the set; ``Model/hasPersistentChangedValues()`` tells.
    public func updatedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> { Set(updated(slots(of: type)).compactMap { $0 as? T }) }

    /// The objects of a class that were in the store and are deleted, by delete rules too.
    public func deletedObjects<T: Model>(_ type: T.Type = T.self) -> Set<T> { Set(deleted(slots(of: type)).compactMap { $0 as? T }) }

    /// The ids of the objects of a class that were created.
    public func insertedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(insertedObjects(type).map(\.objectID)) }
    /// The ids of the objects of a class that were changed; see ``updatedObjects(_:)``.
    public func updatedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(updatedObjects(type).map(\.objectID)) }
    /// The ids of the objects of a class that were deleted.
    public func deletedObjectIDs<T: Model>(_ type: T.Type) -> Set<ObjectID<T>> { Set(deletedObjects(type).map(\.objectID)) }

    /// The ids of all objects that were created.
    public func insertedObjectIDs() -> Set<AnyObjectID> { Set(inserted(Array(pending.indices)).map { $0.anyID }) }
    /// The ids of all objects that were changed; see ``updatedObjects(_:)``.
    public func updatedObjectIDs() -> Set<AnyObjectID> { Set(updated(Array(pending.indices)).map { $0.anyID }) }
    /// The ids of all objects that were deleted.
    public func deletedObjectIDs() -> Set<AnyObjectID> { Set(deleted(Array(pending.indices)).map { $0.anyID }) }

    // MARK: Lists

    /// Where objects of a class are; those of other classes of its hierarchy are there too.
    private func slots<T: Model>(of type: T.Type) -> [Int] { (table.byType[ObjectIdentifier(type)] ?? []).map { Int($0.slot) } }

    private func inserted(_ slots: [Int]) -> [any Model] { slots.flatMap { pending[$0].inserted.filter { !$0.isDeleted } } }

    private func deleted(_ slots: [Int]) -> [any Model] { slots.flatMap { pending[$0].deleted } }

    private func updated(_ slots: [Int]) -> [any Model] {
        var found: [any Model] = slots.flatMap { slot in
            pending[slot].updated.filter { !$0.isDeleted && !($0._$state.edit?.mask.isEmpty ?? true) }
        }
        for key in memberLog.touched where slots.contains(Int(key.slot)) {
            guard let changes = memberLog.changes(key), !changes.isEmpty else { continue }
            let object = anyObject(key.slot, key.key)
            if !object.isDeleted, !object.isInserted { found.append(object) }
        }
        return found
    }
}

extension MemberChanges {
    var isEmpty: Bool { added.isEmpty && removed.isEmpty && order.isEmpty }
}

extension Model {
    /// The object's identity without its type.
    var anyID: AnyObjectID { AnyObjectID(entry: _$state.context.entry(_$state.slot), key: _$state.key) }
}
