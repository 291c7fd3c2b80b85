import PolyStoreBackend
import PolyStoreKernel

/// An observation of the changes of properties and the deletion of one object.
///
///     let monitor = try stack.view.monitorObject(jane)
///     monitor.addObserver(controller)
///
/// Created by ``MonitoringContext/monitorObject(_:)-(T)``. It is updated with its context like a ``ListMonitor``, with the same rules for callbacks. Observers
/// are held weakly. An object that was deleted and exists again, for instance because the deletion was undone, is reported as updated. An object whose store is
/// removed from the stack is reported as deleted.
///
/// Not Sendable: it belongs to its context. It retains the context and the object.
public final class ObjectMonitor<T: Model> {
    private struct Reference {
        weak var observer: (any ObjectObserver<T>)?
        /// The number of the addition: an observer that was removed and added again is a new one.
        let number: Int
        /// A Boolean value that indicates whether the observer has been notified that the object will change.
        var isAnnounced = false
    }

    private enum Change {
        case updated(Set<String>)
        case deleted
    }

    /// The id of the object.
    public let objectID: ObjectID<T>
    /// The object; `nil` after its deletion, until it exists again.
    public private(set) var object: T?
    private let context: Context
    private var observed: ObservedRow
    private var references: [Reference] = []
    private var lastNumber = 0
    /// The change that has not been reported yet, and the observers at the time of the change.
    private var unreported: (object: T, change: Change, audience: [Reference])?
    /// The record that the observers know, used to detect changes that are not reported otherwise.
    private var known: [UInt8]

    init(_ context: Context, _ object: T) throws {
        self.context = context
        self.object = object
        objectID = object.objectID
        known = []
        observed = ObservedRow(RowReference(entityIndex: objectID.entry.entityIndex, rowID: objectID.rowID))
        context.startObserving().add(self, of: row)
        known = try currentRecord(object) ?? []
    }

    private var entry: StoreEntity { context.entry(row.entityIndex) }
    private var row: RowReference { observed.row }

    /// A Boolean value that indicates whether the object was deleted. The form of CoreStore; the same as `object == nil`.
    public var isObjectDeleted: Bool { object == nil }

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any ObjectObserver<T>) {
        references.removeAll { $0.observer == nil }
        guard !references.contains(where: { $0.observer === observer }) else { return }
        lastNumber += 1
        references.append(Reference(observer: observer, number: lastNumber))
        // An observer that is added while a move is announced is notified of it.
        if context.isReporting { context.observers?.didAdd() }
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver(_ observer: any ObjectObserver<T>) {
        references.removeAll { $0.observer == nil || $0.observer === observer }
    }

    /// Calls the observers of a change, except those that were removed since.
    private func forEachObserver(of audience: [Reference], _ call: (any ObjectObserver<T>) -> Void) {
        for reference in audience where references.contains(where: { $0.number == reference.number }) {
            if let observer = reference.observer { call(observer) }
        }
    }

    /// Returns the bytes of the object's record, including pending changes; `nil` if it is deleted.
    private func currentRecord(_ object: T) throws -> [UInt8]? {
        if object.isDeleted { return nil }
        context.settleMembers()
        if object.isEdited || object.isInserted {
            let arena = RecordArena(capacity: 512)
            return Array(try arena.encode(object, entry).bytes)
        }
        // An object whose change was undone keeps its values if another transaction has deleted it.
        let record = try context.storage(entry.store).record(entry.entity, rowID: objectID.rowID)
        return (record ?? context.undoneRecord(entry, objectID.rowID)).map { Array($0.bytes) }
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
    package var observedEntities: [Int32]? { [row.entityIndex] }

    package func contextWillMove(_ move: ContextMove) {
        guard let object, !object.isDeleted else { return }
        let isUpdate: Bool
        if let step = move.step.row(row.entityIndex, row.rowID) {
            // A deleted object can have been inserted again, also with its previous values.
            isUpdate = step.wasDeleted ? step.source != nil && (move.isChanged(row) || !step.relationships.isEmpty) : step.isUpdate
        } else {
            isUpdate = move.isPartial && move.isChanged(row)
        }
        if isUpdate { announce(object) }
    }

    private func announce(_ object: T) {
        while let index = references.firstIndex(where: { !$0.isAnnounced }) {
            references[index].isAnnounced = true
            references[index].observer?.objectMonitor(self, willUpdateObject: object)
        }
    }

    package func contextDidMove(_ move: ContextMove, _ context: Context) {
        let old = observed
        if move.hasNewStores {
            observed = old.followed(objectID, context)
            observe(observed, insteadOf: old, context)
        }
        let isMoved = observed != old
        guard observed.isInStack else {
            if let object { unreported = (object, .deleted, references) }
            (object, known) = (nil, [])
            return
        }
        // The object of the previous row does not show the store that was added again.
        if isMoved { object = nil }
        let step = move.step.row(row.entityIndex, row.rowID)
        guard step != nil || move.isPartial || isMoved else { return }
        do {
            guard let object = try object ?? returned(step, context) else { return }
            guard let record = try currentRecord(object) else {
                if self.object != nil { unreported = (object, .deleted, references) }
                self.object = nil
                known = []
                return
            }
            var keys = try differences(known, record)
            for relationship in step?.relationships ?? [] { keys.insert(entry.entity.relationships[Int(relationship)].name) }
            known = record
            self.object = object
            if !keys.isEmpty { unreported = (object, .updated(keys), references) }
        } catch {
            context.logFailedRead(error, "The monitored \(objectID) could not be read")
        }
    }

    /// Returns the object if it was deleted and exists again.
    private func returned(_ step: CommittedStep.Row?, _ context: Context) throws -> T? {
        if step?.wasInserted == true { return context.object(T.self, row.entityIndex, row.rowID) }
        return try context.fetchExisting(objectID)
    }

    package func notify() {
        for index in references.indices { references[index].isAnnounced = false }
        guard let (object, change, audience) = unreported else { return }
        unreported = nil
        switch change {
        case .updated(let keys):
            forEachObserver(of: audience.filter { !$0.isAnnounced }) { $0.objectMonitor(self, willUpdateObject: object) }
            forEachObserver(of: audience) { $0.objectMonitor(self, didUpdateObject: object, changedKeys: keys) }
        case .deleted: forEachObserver(of: audience) { $0.objectMonitor(self, didDeleteObject: object) }
        }
    }
}
