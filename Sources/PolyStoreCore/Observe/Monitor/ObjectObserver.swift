/// An object that an ``ObjectMonitor`` notifies of changes of its object. Held weakly.
public protocol ObjectObserver<ObjectEntity>: AnyObject {
    associatedtype ObjectEntity: Model

    /// Called before the object's values change: the object still has the old ones. In an unsafe transaction, whose objects change at once, it has the new ones.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, willUpdateObject object: ObjectEntity)
    /// Called when the object's values have changed.
    /// - Parameter changedKeys: the stored names of exactly the properties that changed, to-many relationships included.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didUpdateObject object: ObjectEntity, changedKeys: Set<String>)
    /// Called when the object was deleted. The monitor's ``ObjectMonitor/object`` is nil from now on.
    func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didDeleteObject object: ObjectEntity)
}

extension ObjectObserver {
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, willUpdateObject object: ObjectEntity) {}
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didUpdateObject object: ObjectEntity, changedKeys: Set<String>) {}
    public func objectMonitor(_ monitor: ObjectMonitor<ObjectEntity>, didDeleteObject object: ObjectEntity) {}
}
