import PolyStoreBackend
import PolyStoreCollections

/// The pending changes of a transaction, with what its commit validates and what its undo restores.
///
/// Only transactions have a change buffer. An ``Editor`` changes it together with the objects of the context.
package final class ChangeBuffer {
    /// The changed objects of one entity, retained until the transaction ends.
    final class EntityChanges {
        @exclusivity(unchecked) var inserted: [any Model] = []
        @exclusivity(unchecked) var updated: [any Model] = []
        @exclusivity(unchecked) var deleted: [any Model] = []
        /// Created by the first fetch that includes pending changes.
        @exclusivity(unchecked) var records: PendingRecords?

        /// The number of objects whose records are written.
        var writtenCount: Int { inserted.count + updated.count }

        var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    }

    private enum Phase {
        case open
        /// The validation methods of the models run. Changes are refused.
        case validating(ValidationRun)
        /// Changes are rejected, with the given reason.
        case closed(String)
        case ended
    }

    // A transaction is used by one thread at a time, and none of these properties is exposed for in-place mutation.

    /// The changed objects by entity index, of the entities that the transaction changes.
    @exclusivity(unchecked) private(set) var pending = SparseArray<EntityChanges>()
    @exclusivity(unchecked) package var relationshipChanges = RelationshipChanges()
    /// Relationships with the delete rule `deny` whose objects were deleted; validated at commit.
    @exclusivity(unchecked) var denials: [RelationshipKey] = []
    /// Target objects of relationships that were set without reading the store, without duplicates; their existence is validated at commit.
    @exclusivity(unchecked) var unverified: [RowReference] = []
    /// The named values that the transaction sets, by store index and UTF-8 bytes of the name.
    @exclusivity(unchecked) var storeValues: [Int: [[UInt8]: ChangeSet.ValueChange]] = [:]
    /// The position up to which the transaction deletes history entries, by store index.
    @exclusivity(unchecked) package var historyRemovals: [Int: Int64] = [:]
    /// Errors of calls that cannot throw; thrown at commit.
    @exclusivity(unchecked) var deferredErrors = DeferredErrors()
    /// The relationship whose cached member list the current in-place mutation updates itself.
    @exclusivity(unchecked) var mutatedRelationship: RelationshipKey?
    /// The entry of the class of the last object created without an explicit configuration.
    @exclusivity(unchecked) var createdEntry: (type: ObjectIdentifier, entry: StoreEntity)?
    /// The recorded changes for undo, redo and savepoints.
    @exclusivity(unchecked) package var history: UndoHistory?
    /// The imports of this transaction; nil before the first one.
    @exclusivity(unchecked) package var imports: (any PendingImports)?
    /// Changes written by a commit in the body: no longer pending, but not yet published.
    @exclusivity(unchecked) private var written: (relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String])?
    @exclusivity(unchecked) private var phase = Phase.open

    /// Tracks the changed objects of an unqueued transaction; nil in a queued one, which needs no conflict detection and has no observers.
    let tracker: ChangeTracker?
    /// Rolls back an unqueued transaction whose body has committed or rolled back before it threw; nil in a queued one, which keeps its recorded changes until
    /// it ends.
    var rollBack: (() -> Void)?

    init(tracker: ChangeTracker?) { self.tracker = tracker }

    /// The changed objects of an entity; nil if there are none.
    subscript(entityIndex: Int) -> EntityChanges? { pending[entityIndex] }

    /// Returns the changed objects of an entity, in order to change them.
    func changes(of entityIndex: Int) -> EntityChanges {
        if let known = pending[entityIndex] { return known }
        let new = EntityChanges()
        pending.set(new, at: entityIndex)
        return new
    }

    /// Called after an object was created.
    func didCreate(_ object: any Model, entityIndex: Int) {
        changes(of: entityIndex).inserted.append(object)
        history?.recordCreation(object)
        tracker?.didCreate(object)
    }

    /// Returns whether an entity has changed objects.
    func hasChanges(of entityIndex: Int) -> Bool { !(pending[entityIndex]?.isEmpty ?? true) }

    /// Returns the indexes of the entities of a store that have changed objects, in order.
    func changedEntities(of store: PersistentStore) -> [Int] {
        var found: [Int] = []
        pending.forEachInAnyOrder { index, changes in
            if !changes.isEmpty, store.entityIndexes.contains(Int32(index)) { found.append(index) }
        }
        if found.count > 1 { found.sort() }
        return found
    }

    /// Called after stores were added or removed.
    func didUpdateStores() { createdEntry = nil }

    // MARK: Phases

    /// The run of the validation methods, while they run.
    var validation: ValidationRun? { if case .validating(let run) = phase { run } else { nil } }

    /// A Boolean value that indicates whether the transaction accepts changes.
    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// A Boolean value that indicates whether the transaction has ended, so that it cannot be read any more.
    var hasEnded: Bool { if case .ended = phase { true } else { false } }

    /// Rejects further changes.
    func close(_ why: String) {
        if hasEnded { return }
        phase = .closed(why)
        detectChangesOfChangedObjects()
    }

    func reopen() { if !hasEnded { phase = .open } }

    /// Refuses changes while the validation methods of the models run in a closure.
    /// - Throws: the errors of the closure; `misuse` if a method attempted to change something.
    func refusingChanges(_ body: (ValidationRun) throws -> Void) throws {
        let run = ValidationRun()
        phase = .validating(run)
        defer { phase = .open }
        detectChangesOfChangedObjects()
        try body(run)
        if let error = run.error { throw error }
    }

    /// Requests a notification of the next change of objects that were already changed.
    func detectChangesOfChangedObjects() {
        pending.forEachInAnyOrder { _, changes in
            for object in changes.inserted { object._$state.edit?.isRecorded = true }
            for object in changes.updated { object._$state.edit?.isRecorded = true }
        }
    }

    /// Checks that the transaction accepts changes.
    /// - Throws: `closed` if it does not; `misuse` while validation methods run.
    func checkMutable() throws {
        if case .validating(let run) = phase { run.refuse(nil) }
        if let error = immutability { throw error }
    }

    /// The reason why changes are rejected; nil if the transaction accepts changes.
    var immutability: StoreError? {
        switch phase {
        case .open: nil
        case .validating:
            StoreError(.misuse, "A validation method must not change anything: make the change before the transaction commits.")
        case .closed(let why): StoreError(.closed, "The transaction \(why), so nothing more can be changed in it.")
        case .ended: StoreError(.closed, "The transaction has ended, so nothing can be changed in it.")
        }
    }

    // MARK: The end

    /// Clears the changes after they were applied. The transaction now reads them from the stores.
    func didWrite(_ table: @autoclosure () -> StoreTable) {
        written = (relationshipChanges, deletedKinds(table()))
        pending.forEachInAnyOrder { _, changes in
            for object in [changes.inserted, changes.updated].joined() { object._$state.edit = nil }
        }
        clear()
    }

    /// Removes all changes, and keeps the imports and the recorded changes.
    func clear() {
        forgetObjects()
        relationshipChanges = RelationshipChanges()
        denials = []
        unverified = []
        storeValues = [:]
        historyRemovals = [:]
    }

    /// Removes the changed objects, and keeps all other changes.
    func forgetObjects() { pending = SparseArray() }

    /// Ends the buffer of a queued transaction. It accepts no changes any more.
    func end() {
        phase = .ended
        forgetObjects()
        imports = nil
        storeValues = [:]
    }

    /// The changes of to-many relationships and the entities of deleted objects that a commit publishes.
    func published(_ table: @autoclosure () -> StoreTable) -> (
        relationshipChanges: RelationshipChanges, deletedKinds: [RowReference: String]
    ) {
        written ?? (relationshipChanges, deletedKinds(table()))
    }

    /// Returns the entities of deleted objects in class hierarchies. They cannot be determined after the commit.
    private func deletedKinds(_ table: @autoclosure () -> StoreTable) -> [RowReference: String] {
        var hasDeleted = false
        pending.forEachInAnyOrder { _, changes in hasDeleted = hasDeleted || !changes.deleted.isEmpty }
        guard hasDeleted else { return [:] }
        let table = table()
        var kinds: [RowReference: String] = [:]
        for changed in pending where !changed.object.deleted.isEmpty {
            let entry = table.entries[changed.index]
            guard entry.holdsHierarchy else { continue }
            for object in changed.object.deleted { kinds[object.rowReference] = entry.entityClass(of: object)?.name }
        }
        return kinds
    }
}

/// The state that imports keep in a transaction until the references between their records are resolved.
package protocol PendingImports: AnyObject {
    /// Called before the first change of an object, and before the first one after recording was requested.
    func willEdit(_ object: any Model)
    /// Resolves the references that are left, before the transaction is committed.
    /// - Throws: `notFound` with the references that cannot be resolved; errors of the imports of nested sources.
    func resolveAll() throws
}
