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
    /// An object with its record, including pending changes. The record shows changes that are not reported otherwise.
    private struct Known: Equatable {
        let object: T
        let record: [UInt8]

        static func == (left: Known, right: Known) -> Bool { left.record == right.record }
    }

    private struct Reference {
        weak var observer: (any ObjectObserver<T>)?
    }

    /// The id of the object.
    public let objectID: ObjectID<T>
    /// The object; `nil` after its deletion, until it exists again.
    public var object: T? { followed.value?.object }
    private let context: Context
    private let followed: FollowedObject<T, Known>
    private let observers: Subscribers<Reference>

    init(_ context: Context, _ id: ObjectID<T>) throws {
        self.context = context
        objectID = id
        followed = try FollowedObject(id, context, reportsRelationships: true) { known, row, step, context in
            let returned = step?.wasInserted == true ? context.object(T.self, row.entityIndex, row.rowID) : nil
            guard let object = try known?.object ?? returned ?? context.fetchExisting(id) else { return nil }
            return try Self.record(of: object, row, context).map { Known(object: object, record: $0) }
        }
        observers = Subscribers(followed.subscribers.numbers)
        followed.subscribers.add(self) { [weak self] change in self?.report(change) }
        followed.announce = { [weak self] in self?.announce() }
    }

    /// A Boolean value that indicates whether the object was deleted. The form of CoreStore; the same as `object == nil`.
    public var isObjectDeleted: Bool { object == nil }

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any ObjectObserver<T>) {
        guard !observers.contains(observer) else { return }
        observers.add(observer, Reference(observer: observer))
        // An observer that is added while a move is announced is notified of it.
        if context.isReporting { context.observers?.didAdd() }
    }

    /// Removes an observer. It receives no further calls.
    public func removeObserver(_ observer: any ObjectObserver<T>) { observers.remove(observer) }

    /// Returns the bytes of an object's record, including pending changes; `nil` if it is deleted.
    private static func record(of object: T, _ row: RowReference, _ context: Context) throws -> [UInt8]? {
        if object.isDeleted { return nil }
        context.settleMembers()
        let entry = context.entry(row.entityIndex)
        if object.isEdited || object.isInserted {
            let arena = RecordArena(capacity: 512)
            return Array(try arena.encode(object, entry).bytes)
        }
        // An object whose change was undone keeps its values if another transaction has deleted it.
        let record = try context.storage(entry.store).record(entry.entity, rowID: row.rowID)
        return (record ?? context.undoneRecord(entry, row.rowID)).map { Array($0.bytes) }
    }

    /// Returns the stored names of the changed properties.
    private func changedKeys(_ change: ObjectNotification<Known>, _ new: Known) -> Set<String> {
        let entry = context.entry(followed.row.entityIndex)
        let entity = entry.entity
        var fields = entity.fields.filter { entry.declaredFields.contains($0.index) }
        if let old = change.old {
            old.record.withUnsafeBytes { old in
                new.record.withUnsafeBytes { new in
                    guard let before = try? RecordView(validating: old, layout: entity.layout),
                        let after = try? RecordView(validating: new, layout: entity.layout)
                    else { return }
                    fields.removeAll { before.value($0) == after.value($0) }
                }
            }
        }
        return Set(fields.map(\.name)).union(change.relationships.map { entity.relationships[Int($0)].name })
    }

    private func announce() {
        guard let object, !object.isDeleted else { return }
        while let next = observers.next(after: followed.announced) {
            followed.announced = next.number
            next.subscriber.observer?.objectMonitor(self, willUpdateObject: object)
        }
    }

    private func report(_ change: ObjectNotification<Known>) {
        guard let new = change.new else {
            guard let object = change.old?.object else { return }
            return observers.forEach(through: change.audience) { $0.observer?.objectMonitor(self, didDeleteObject: object) }
        }
        let keys = changedKeys(change, new)
        guard !keys.isEmpty else { return }
        observers.forEach(after: change.announced, through: change.audience) {
            $0.observer?.objectMonitor(self, willUpdateObject: new.object)
        }
        observers.forEach(through: change.audience) {
            $0.observer?.objectMonitor(self, didUpdateObject: new.object, changedKeys: keys)
        }
    }
}
