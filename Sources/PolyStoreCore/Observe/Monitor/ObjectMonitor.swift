import PolyStoreBackend

/// An observation of the changes of properties and the deletion of one object.
///
///     let monitor = try stack.view.monitorObject(jane)
///     monitor.addObserver(controller)
///
/// Created by ``MonitoringContext/monitorObject(_:)-(T)``. It is updated with its context like a ``ListMonitor``. Observers are held weakly. They may be added
/// and removed at any time, including in a callback.
///
/// Not Sendable: it belongs to its context. It retains the context and the object.
public final class ObjectMonitor<T: Model> {
    private struct Reference {
        weak var observer: (any ObjectObserver<T>)?
    }

    private enum Change {
        case updated(Set<String>)
        case deleted
    }

    /// The id of the object.
    public let objectID: ObjectID<T>
    /// The object; `nil` after its deletion.
    public private(set) var object: T?
    private let context: Context
    private var references: [Reference] = []
    /// The change that the observers have not been notified of yet.
    private var change: (object: T, change: Change)?
    /// A Boolean value that indicates whether the observers have been notified that the object will change.
    private var isAnnounced = false
    /// The record that the observers know, used to detect changes that are not reported otherwise.
    private var known: [UInt8]

    init(_ context: Context, _ object: T) throws {
        self.context = context
        self.object = object
        objectID = object.objectID
        known = []
        context.startObserving().add(self, of: row)
        known = try currentRecord(object) ?? []
    }

    private var entry: StoreEntity { context.entry(row.entityIndex) }
    private var row: RowReference { RowReference(entityIndex: objectID.entry.entityIndex, rowID: objectID.rowID) }

    /// A Boolean value that indicates whether the object was deleted. The form of CoreStore; the same as `object == nil`.
    public var isObjectDeleted: Bool { object == nil }

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any ObjectObserver<T>) {
        references.removeAll { $0.observer == nil }
        guard !references.contains(where: { $0.observer === observer }) else { return }
        references.append(Reference(observer: observer))
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver(_ observer: any ObjectObserver<T>) {
        references.removeAll { $0.observer == nil || $0.observer === observer }
    }

    private func forEachObserver(_ call: (any ObjectObserver<T>) -> Void) {
        for reference in references {
            guard let observer = reference.observer, references.contains(where: { $0.observer === observer }) else { continue }
            call(observer)
        }
    }

    /// Returns the bytes of the object's record, including pending changes; `nil` if it is deleted.
    private func currentRecord(_ object: T) throws -> [UInt8]? {
        if object.isDeleted { return nil }
        if object.isEdited || object.isInserted {
            let arena = RecordArena(capacity: 512)
            return Array(try arena.encode(object, entry).bytes)
        }
        return try context.storage(entry.store).record(entry.entity, rowID: objectID.rowID).map { Array($0.bytes) }
    }

    /// Returns the stored names of the properties that differ between two records.
    private func differences(_ old: [UInt8], _ new: [UInt8]) throws -> Set<String> {
        let entity = entry.entity
        return try old.withUnsafeBytes { old in
            try new.withUnsafeBytes { new in
                guard !old.isEmpty else { return Set(entry.declaredFields.indexes.map { entity.fields[$0].name }) }
                let before = try RecordView(validating: old, layout: entity.layout)
                let after = try RecordView(validating: new, layout: entity.layout)
                let changed = entity.fields.filter { entry.declaredFields.contains($0.index) && before.value($0) != after.value($0) }
                return Set(changed.map(\.name))
            }
        }
    }
}

extension ObjectMonitor: ContextObserver {
    var observedEntities: [Int32]? { [row.entityIndex] }

    func contextWillMove(_ move: ContextMove) {
        guard let object, !object.isDeleted else { return }
        let isUpdate: Bool
        if let step = move.step.row(row.entityIndex, row.rowID) {
            isUpdate = !step.wasDeleted && step.isUpdate
        } else {
            isUpdate = move.isPartial && move.isChanged(row)
        }
        if isUpdate { announce(object) }
    }

    /// Returns the object if it was deleted before the move and inserted again.
    private func reinserted(_ step: CommittedStep.Row?, _ move: ContextMove) throws -> T? {
        // An incomplete step may not contain the insertion.
        let isInserted =
            try step?.wasInserted == true
            || move.isPartial && context.storage(entry.store).record(entry.entity, rowID: row.rowID) != nil
        return isInserted ? context.object(T.self, row.entityIndex, row.rowID) : nil
    }

    private func announce(_ object: T) {
        isAnnounced = true
        forEachObserver { $0.objectMonitor(self, willUpdateObject: object) }
    }

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        let step = move.step.row(row.entityIndex, row.rowID)
        guard step != nil || move.isPartial else { return }
        do {
            guard let object = try object ?? reinserted(step, move) else { return }
            guard let record = try currentRecord(object) else {
                if self.object != nil { change = (object, .deleted) }
                self.object = nil
                known = []
                return
            }
            var keys = try differences(known, record)
            for relationship in step?.relationships ?? [] { keys.insert(entry.entity.relationships[Int(relationship)].name) }
            known = record
            self.object = object
            if !keys.isEmpty { change = (object, .updated(keys)) }
        } catch {
            context.log(.error, "The monitored \(objectID) could not be read: \(error)")
        }
    }

    func notify() {
        guard let (object, change) = change else {
            isAnnounced = false
            return
        }
        self.change = nil
        defer { isAnnounced = false }
        switch change {
        case .updated(let keys):
            if !isAnnounced { announce(object) }
            forEachObserver { $0.objectMonitor(self, didUpdateObject: object, changedKeys: keys) }
        case .deleted: forEachObserver { $0.objectMonitor(self, didDeleteObject: object) }
        }
    }
}
