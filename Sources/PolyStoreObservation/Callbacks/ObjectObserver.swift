import PolyStoreKernel

/// An observer of the object of an ``ObjectMonitor``. The monitor holds a weak reference to it.
public protocol ObjectObserver<ObjectEntity>: AnyObject {
    /// The class of the observed object.
    associatedtype ObjectEntity: Model

    /// Called before the object's values change, while it has the old values. In an unsafe transaction, whose objects change immediately, it has the new
    /// values.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, willUpdateObject object: ObjectEntity)
    /// Called after the object's values changed.
    /// - Parameters:
    ///   - monitor: The monitor of the object.
    ///   - object: The changed object.
    ///   - changedKeys: The stored names of the changed properties, including to-many relationships.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didUpdateObject object: ObjectEntity, changedKeys: Set<String>)
    /// Called after the object was deleted. The monitor's ``ObjectMonitor/object`` is then nil.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didDeleteObject object: ObjectEntity)
}

extension ObjectObserver {
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, willUpdateObject object: ObjectEntity) {}
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didUpdateObject object: ObjectEntity, changedKeys: Set<String>) {}
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didDeleteObject object: ObjectEntity) {}
}
