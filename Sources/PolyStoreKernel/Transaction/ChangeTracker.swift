import PolyStoreBackend

/// The changed objects of an unqueued transaction: their records before the first change, in order to detect conflicts, and the changes that its
/// observers have not been notified of.
final class ChangeTracker {
    // Used by one thread at a time, like its transaction.

    /// The changed objects, retained until they are committed.
    @exclusivity(unchecked) private(set) var objects: [any Model] = []
    /// The records of the changed and deleted objects at the time they were read.
    @exclusivity(unchecked) private var originals: [RowReference: RecordedChanges.ByteRange] = [:]
    /// The original records of objects whose changes were undone.
    @exclusivity(unchecked) private var undone: [RowReference: RecordedChanges.ByteRange] = [:]
    @exclusivity(unchecked) private var arena = RecordArena()
    @exclusivity(unchecked) private var observers: [(id: Int, handler: (PendingChanges) -> Void)] = []
    @exclusivity(unchecked) private var lastObserver = 0
    /// The reports that the observers have not received yet.
    @exclusivity(unchecked) private var reports: [PendingChanges] = []
    /// Objects changed since the last report.
    @exclusivity(unchecked) private var unreportedObjects: [RowReference: any Model] = [:]
    /// The number of to-many relationship changes in the reports.
    @exclusivity(unchecked) private var reportedRelationshipCount = 0
    /// Objects that were changed during a commit.
    @exclusivity(unchecked) private var objectsEditedDuringCommit: [RowReference: any Model] = [:]

    /// The changed to-many relationships that the monitors have not been notified of.
    @exclusivity(unchecked) private var collectedRelationships: Set<RelationshipKey> = []
    /// The number of to-many relationship changes that were collected for the monitors.
    @exclusivity(unchecked) private var collectedRelationshipCount = 0
    /// The inserted objects that other transactions had deleted, so that others may have inserted them again too.
    @exclusivity(unchecked) var reinserted: Set<RowReference> = []

    // MARK: Changes

    /// Called after an object was created.
    func didCreate(_ object: any Model) {
        retain(object)
        addUnreported(object)
    }

    /// Called before the first change or deletion of an object, and before the first one after recording was requested.
    func willChange(_ object: any Model, in context: Context) {
        retain(object)
        saveOriginal(of: object, in: context)
        addUnreported(object)
    }

    /// Called before undo restores an object to a state in which it was changed or deleted.
    func willRestoreChange(of object: any Model, in context: Context) {
        guard !object.isInserted, originals[object.rowReference] == nil else { return }
        if object._$state.isFault { context.fire(object) }
        saveOriginal(of: object, in: context)
    }

    /// Called when undo restores a changed object to its unchanged state.
    func didRestoreOriginal(of object: any Model) {
        if let original = originals.removeValue(forKey: object.rowReference) { undone[object.rowReference] = original }
    }

    /// Returns the original record of an object whose change was undone. It is valid until the next change of an object.
    func undoneRecord(_ reference: RowReference, _ layout: RecordLayout) -> RecordView? {
        undone[reference].map { arena.view($0.offset, $0.count, layout) }
    }

    /// Called after undo or redo restored objects and their to-many relationships.
    func didRestore(_ objects: [any Model], _ relationships: Set<RelationshipKey>, in editor: Editor) {
        collectRelationships(restored: relationships, in: editor)
        guard !observers.isEmpty else { return }
        for object in objects { addUnreported(object) }
        for key in relationships { addUnreported(editor.context.anyObject(key.entityIndex, key.rowID)) }
        reportedRelationshipCount = editor.buffer.relationshipChanges.changeCount
    }

    /// Collects the to-many relationships that were changed since the last call, for the monitors.
    func collectRelationships(in editor: Editor) {
        guard editor.context.observers != nil else { return }
        collectedRelationships.formUnion(editor.buffer.relationshipChanges.changedRelationships(since: collectedRelationshipCount))
        collectedRelationshipCount = editor.buffer.relationshipChanges.changeCount
    }

    /// Collects to-many relationships that undo, redo or rollback has restored.
    func collectRelationships(restored: Set<RelationshipKey>, in editor: Editor) {
        guard editor.context.observers != nil else { return }
        collectedRelationships.formUnion(restored)
        collectRelationships(in: editor)
    }

    /// Removes and returns the relationships that were collected for the monitors.
    func takeCollectedRelationships() -> Set<RelationshipKey> {
        defer { collectedRelationships = [] }
        return collectedRelationships
    }

    private func retain(_ object: any Model) {
        guard !object._$state.flags.contains(.owned) else { return }
        object._$state.flags.insert(.owned)
        objects.append(object)
    }

    private func addUnreported(_ object: any Model) {
        if !observers.isEmpty { unreportedObjects[object.rowReference] = object }
    }

    // MARK: Original records

    /// Stores the record of an object that was read.
    private func saveOriginal(of object: any Model, in context: Context) {
        let reference = object.rowReference
        guard !object.isInserted, originals[reference] == nil else { return }
        let entry = context.entry(reference.entityIndex)
        let view: RecordView?
        if object._$state.isFault {
            view = try? context.record(entry, reference.rowID)
            guard let view else { return }
            originals[reference] = RecordedChanges.ByteRange(offset: arena.append(view.bytes), count: view.count)
        } else if let view = try? arena.encode(object, entry) {
            originals[reference] = RecordedChanges.ByteRange(offset: arena.count - view.count, count: view.count)
        }
    }

    /// Returns the record of an object before its first change, or nil if it is unknown.
    func original(of object: any Model) -> UnsafeRawBufferPointer? {
        originals[object.rowReference].map { arena.bytes($0.offset, $0.count) }
    }

    // MARK: Commit

    /// Called when an object was changed although the transaction is being committed.
    func didEditDuringCommit(_ object: any Model) { objectsEditedDuringCommit[object.rowReference] = object }

    /// Removes and returns the objects that were changed during a commit.
    func takeObjectsEditedDuringCommit() -> [RowReference: any Model] {
        defer { objectsEditedDuringCommit = [:] }
        return objectsEditedDuringCommit
    }

    /// Forgets all changes but keeps the observers.
    /// - Returns: the objects that were retained.
    func reset() -> [any Model] {
        originals = [:]
        undone = [:]
        arena = RecordArena()
        unreportedObjects = [:]
        reportedRelationshipCount = 0
        collectedRelationshipCount = 0
        reinserted = []
        defer { objects = [] }
        return objects
    }

    // MARK: Observers

    var isObserved: Bool { !observers.isEmpty }

    /// Adds an observer and returns its identifier.
    func observe(_ handler: @escaping (PendingChanges) -> Void) -> Int {
        lastObserver += 1
        observers.append((lastObserver, handler))
        return lastObserver
    }

    func removeObserver(_ id: Int) { observers.removeAll { $0.id == id } }

    /// Adds a report of the changes since the last one.
    func endReport(in editor: Editor) {
        guard !observers.isEmpty else { return }
        for key in editor.buffer.relationshipChanges.changedRelationships(since: reportedRelationshipCount) {
            addUnreported(editor.context.anyObject(key.entityIndex, key.rowID))
        }
        reportedRelationshipCount = editor.buffer.relationshipChanges.changeCount
        endReport()
    }

    /// Adds a report of discarded changes.
    func endReport(discarded objects: [any Model], _ relationships: Set<RelationshipKey>, in context: Context) {
        guard !observers.isEmpty else { return }
        for object in objects { addUnreported(object) }
        for key in relationships { addUnreported(context.anyObject(key.entityIndex, key.rowID)) }
        endReport()
    }

    private func endReport() {
        guard !unreportedObjects.isEmpty else { return }
        reports.append(PendingChanges(Array(unreportedObjects.values)))
        unreportedObjects = [:]
    }

    /// Notifies the observers of the reports that exist now.
    func notifyObservers() {
        let delivered = reports
        reports = []
        for report in delivered {
            for observer in observers where observers.contains(where: { $0.id == observer.id }) { observer.handler(report) }
        }
    }
}
