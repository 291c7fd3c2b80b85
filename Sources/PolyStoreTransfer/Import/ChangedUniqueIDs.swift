import PolyStoreBackend
import PolyStoreKernel

/// The changes of unique ids that an import has made since its outermost call began, which outdate what the calls have looked up.
@usableFromInline
struct ChangedUniqueIDs<T: Model> {
    /// The objects that were edited since the last look, with their ids before the edit; `nil` for an id that the transaction had not changed before.
    fileprivate var edited: [(object: T, key: ImportKey?)] = []
    /// The objects whose ids were changed since the last check.
    fileprivate var unchecked: [T] = []
    /// A Boolean value that indicates whether an id was changed.
    fileprivate var hasChanges = false

    init() {}

    /// A Boolean value that indicates whether the ids are those that were looked up.
    @usableFromInline var isEmpty: Bool { !hasChanges && edited.isEmpty }
}

extension UniqueImporter {
    /// Called before the first change of an object of the entity, and before the first one after the object was imported.
    func willEdit(_ object: any Model) {
        guard let object = object as? T else { return }
        changedIDs.edited.append((object, hasAssignedID(object) ? access.read(object) : nil))
    }

    /// Returns whether the transaction has assigned the id of an object, perhaps the same one.
    private func hasAssignedID(_ object: T) -> Bool {
        guard let edit = object._$state.edit else { return false }
        return access.fields.contains { edit.mask.contains($0.index) }
    }

    /// Called after an object was imported by the id at a position of a call.
    @usableFromInline
    func didImport(_ object: T, _ call: Call, _ position: Int) {
        examineEdited(except: object)
        // Requests a notification of the next change.
        object._$state.edit?.isRecorded = true
        if !object.isDeleted, hasAssignedID(object), access.read(object) != call.index.key(at: position) { didChangeID(of: object) }
    }

    /// Finds the objects whose ids have changed among those that were edited.
    private func examineEdited(except own: T?) {
        guard !changedIDs.edited.isEmpty else { return }
        // Keeps the capacity in the common case that only the imported object was edited.
        if let own, changedIDs.edited.count == 1, changedIDs.edited[0].object === own {
            return changedIDs.edited.removeAll(keepingCapacity: true)
        }
        let edited = changedIDs.edited
        changedIDs.edited = []
        for (object, key) in edited where object !== own {
            object._$state.edit?.isRecorded = true
            guard !object.isDeleted, hasAssignedID(object) else { continue }
            if let key, access.read(object) == key { continue }
            didChangeID(of: object)
        }
    }

    private func didChangeID(of object: T) {
        changedIDs.hasChanges = true
        changedIDs.unchecked.append(object)
    }

    /// Returns the object that has the id at a position of a call, after ids have changed.
    @usableFromInline
    func lookUpAgain(_ call: Call, _ position: Int) throws -> T? {
        examineEdited(except: nil)
        let key = call.index.key(at: position)
        if isUnique || !changedIDs.hasChanges, let object = call.objects[position], isObject(object, of: key) { return object }
        guard changedIDs.hasChanges else { return nil }
        var found: T?
        try fetch(lookUps(ImportKeyIndex(CollectionOfOne(key)), [key])) { _, object in if found == nil { found = object } }
        if let found { call.objects[position] = found }
        return found
    }

    /// Checks that no other object has the ids that were assigned since the last check, as a commit would.
    /// - Throws: `constraint` with the first object whose id another object has.
    func checkChangedIDs() throws {
        examineEdited(except: nil)
        guard !changedIDs.unchecked.isEmpty else { return }
        let changed = changedIDs.unchecked
        changedIDs.unchecked = []
        guard isUnique else { return }
        for object in changed where !object.isDeleted {
            // Null is not compared with null.
            guard let key = access.read(object), !key.values.contains(where: \.isNull) else { continue }
            guard let holder = try otherHolder(of: key, object._$state.rowID) else { continue }
            let names = access.fields.map(\.name).joined(separator: "+")
            // The caller knows no id of an object that the import has created.
            let other = transaction.newObjects()(entry.entity.name, holder) ? "another new object" : "object \(holder)"
            throw StoreError(
                .constraint,
                "\(entry.entity.name).\(names) of \(object.inWords) must be unique, and \(other) has the same value, \(key).",
                entity: entry.entity.name, attribute: names, rowID: object._$state.rowID)
        }
    }

    /// Returns the row id of another object of any class that has an id.
    private func otherHolder(of key: ImportKey, _ rowID: Int64) throws -> Int64? {
        let request = FetchRequest(entry.entity, predicate: UniqueIDCondition(access.fields, [key]).predicate)
        let rows = try transaction.rows(entry, request, FetchOptions())
        defer { rows.close() }
        while try rows.next() { if rows.rowID != rowID { return rows.rowID } }
        return nil
    }

    /// Called after the changes of a record were undone.
    func forgetUncheckedIDs() { changedIDs.unchecked = [] }
}
