public import Foundation
import PolyStoreKernel
import PolyStoreObservation

/// An observer of the list of an ``EntityListMonitor``, which holds a weak reference to it. The order of the calls and the meaning of the index paths are those of `ListObserver`.
public protocol EntityListObserver: AnyObject {
    /// Called before the other calls of a change.
    func listMonitorWillChange(_ monitor: EntityListMonitor)
    /// Called after the other calls of a change.
    func listMonitorDidChange(_ monitor: EntityListMonitor)
    /// Called before the list is replaced by that of another query.
    func listMonitorWillRefetch(_ monitor: EntityListMonitor)
    /// Called when the list was replaced.
    func listMonitorDidRefetch(_ monitor: EntityListMonitor)
    /// Called for each inserted object, with its new position.
    func listMonitor(_ monitor: EntityListMonitor, didInsertObject object: DynamicObject, toIndexPath indexPath: IndexPath)
    /// Called for each object that leaves the list, with its old position.
    func listMonitor(_ monitor: EntityListMonitor, didDeleteObject object: DynamicObject, fromIndexPath indexPath: IndexPath)
    /// Called for each updated object that did not move.
    func listMonitor(_ monitor: EntityListMonitor, didUpdateObject object: DynamicObject, atIndexPath indexPath: IndexPath)
    /// Called for each moved object.
    func listMonitor(
        _ monitor: EntityListMonitor, didMoveObject object: DynamicObject, fromIndexPath: IndexPath, toIndexPath: IndexPath)
    /// Called for each inserted section, with its new index.
    func listMonitor(_ monitor: EntityListMonitor, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int)
    /// Called for each deleted section, with its old index.
    func listMonitor(_ monitor: EntityListMonitor, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int)
}

extension EntityListObserver {
    public func listMonitorWillChange(_ monitor: EntityListMonitor) {}
    public func listMonitorDidChange(_ monitor: EntityListMonitor) {}
    public func listMonitorWillRefetch(_ monitor: EntityListMonitor) {}
    public func listMonitorDidRefetch(_ monitor: EntityListMonitor) {}
    public func listMonitor(_ monitor: EntityListMonitor, didInsertObject object: DynamicObject, toIndexPath indexPath: IndexPath) {}
    public func listMonitor(_ monitor: EntityListMonitor, didDeleteObject object: DynamicObject, fromIndexPath indexPath: IndexPath) {}
    public func listMonitor(_ monitor: EntityListMonitor, didUpdateObject object: DynamicObject, atIndexPath indexPath: IndexPath) {}
    public func listMonitor(
        _ monitor: EntityListMonitor, didMoveObject object: DynamicObject, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
    public func listMonitor(_ monitor: EntityListMonitor, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {}
    public func listMonitor(_ monitor: EntityListMonitor, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {}
}

/// An observer of the object of an ``EntityObjectMonitor``, which holds a weak reference to it.
public protocol EntityObjectObserver: AnyObject {
    /// Called before the object's values change, while it has the old values; in an unsafe transaction it has the new ones.
    func objectMonitor(_ monitor: EntityObjectMonitor, willUpdateObject object: DynamicObject)
    /// Called after the object's values changed, with the names of the changed properties.
    func objectMonitor(_ monitor: EntityObjectMonitor, didUpdateObject object: DynamicObject, changedKeys: Set<String>)
    /// Called after the object was deleted.
    func objectMonitor(_ monitor: EntityObjectMonitor, didDeleteObject object: DynamicObject)
}

extension EntityObjectObserver {
    public func objectMonitor(_ monitor: EntityObjectMonitor, willUpdateObject object: DynamicObject) {}
    public func objectMonitor(_ monitor: EntityObjectMonitor, didUpdateObject object: DynamicObject, changedKeys: Set<String>) {}
    public func objectMonitor(_ monitor: EntityObjectMonitor, didDeleteObject object: DynamicObject) {}
}

/// Observers that are held weakly.
struct WeakObservers {
    private struct Reference {
        weak var object: AnyObject?
    }

    private var all: [Reference] = []

    mutating func add(_ observer: AnyObject) {
        guard !all.contains(where: { $0.object === observer }) else { return }
        all = all.filter { $0.object != nil } + [Reference(object: observer)]
    }

    mutating func remove(_ observer: AnyObject) { all.removeAll { $0.object === observer } }

    /// The observers to call.
    var current: [AnyObject] { all.compactMap(\.object) }

    /// Returns whether an observer is still to be called.
    func contains(_ observer: AnyObject) -> Bool { all.contains { $0.object === observer } }
}
