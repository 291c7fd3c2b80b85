import PolyStoreBackend
import PolyStoreKernel
import PolyStoreObservation

/// An observation of the changes of properties and the deletion of one object without a class, with the rules of an `ObjectMonitor`.
///
///     let monitor = try stack.view.monitorObject(person.id)
///     monitor.addObserver(controller)
///
/// Not Sendable: it belongs to its context, which it retains.
public final class EntityObjectMonitor {
    /// The id of the object.
    public let objectID: AnyObjectID
    private let followed: any EntityObject
    private var observers = WeakObservers()

    fileprivate init(_ objectID: AnyObjectID, _ followed: any EntityObject) {
        (self.objectID, self.followed) = (objectID, followed)
        followed.owner = self
    }

    /// The object; `nil` after its deletion, until it exists again.
    public var object: DynamicObject? { followed.object }

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any EntityObjectObserver) { observers.add(observer) }

    /// Removes an observer. It receives no further calls.
    public func removeObserver(_ observer: any EntityObjectObserver) { observers.remove(observer) }

    fileprivate func call(_ body: (any EntityObjectObserver) -> Void) {
        for observer in observers.current where observers.contains(observer) { (observer as? any EntityObjectObserver).map(body) }
    }
}

extension MonitoringContext {
    /// Returns a monitor of the object with an id.
    /// - Throws: `notFound` if this context does not contain the object, `misuse` if it has a class.
    public func monitorObject(_ id: AnyObjectID) throws -> EntityObjectMonitor {
        guard id.entry.type is any DynamicModel.Type else {
            throw StoreError(.misuse, "\(id) has the class \(id.entry.type): monitor it by an ObjectID of it.", entity: id.entityName)
        }
        func object<T: Model>(_ type: T.Type) throws -> any EntityObject {
            try EntityObjectOfClass<T>(monitorObject(ObjectID<T>(entry: id.entry, rowID: id.rowID)))
        }
        return EntityObjectMonitor(id, try object(id.entry.type))
    }

    /// Returns a monitor of an object of any context; the monitor uses the object of this context.
    /// - Throws: `notFound` if this context does not contain the object.
    public func monitorObject(_ object: DynamicObject) throws -> EntityObjectMonitor { try monitorObject(object.id) }
}

private protocol EntityObject: AnyObject {
    var owner: EntityObjectMonitor? { get set }
    var object: DynamicObject? { get }
}

/// Passes the calls for a monitor of a class to the observers of the monitor without one.
private final class EntityObjectOfClass<T: Model>: EntityObject, ObjectObserver {
    typealias ObjectEntity = T

    weak var owner: EntityObjectMonitor?
    private let monitor: ObjectMonitor<T>

    init(_ monitor: ObjectMonitor<T>) {
        self.monitor = monitor
        monitor.addObserver(self)
    }

    var object: DynamicObject? { monitor.object as? DynamicObject }

    func objectMonitor(_ monitor: ObjectMonitor<T>, willUpdateObject object: T) {
        report(object) { $1.objectMonitor($0, willUpdateObject: $2) }
    }
    func objectMonitor(_ monitor: ObjectMonitor<T>, didUpdateObject object: T, changedKeys: Set<String>) {
        report(object) { $1.objectMonitor($0, didUpdateObject: $2, changedKeys: changedKeys) }
    }
    func objectMonitor(_ monitor: ObjectMonitor<T>, didDeleteObject object: T) {
        report(object) { $1.objectMonitor($0, didDeleteObject: $2) }
    }

    private func report(_ object: T, _ call: (EntityObjectMonitor, any EntityObjectObserver, DynamicObject) -> Void) {
        guard let owner, let object = object as? DynamicObject else { return }
        owner.call { call(owner, $0, object) }
    }
}
