import Foundation
import PolyStoreKernel

/// An observer of the list of a ``ListMonitor``. The monitor holds a weak reference to it.
///
/// The calls for one change are made in this order: ``listMonitorWillChange(_:)``, inserted sections, deleted objects, inserted objects, updated objects, moved
/// objects, deleted sections, ``listMonitorDidChange(_:)``. During all of them the monitor shows the new list. Deletions have old positions, all other calls
/// new ones. A moved object is reported once, even if its properties changed too. Observers are not called if the list does not change.
///
/// The calls are made where the monitor's context is used: those of ``DataStack/view`` on the main actor. A class isolated to the main actor conforms with
/// `@preconcurrency`: `final class PeopleController: @preconcurrency ListObserver`.
public protocol ListObserver<ListEntity>: AnyObject {
    /// The class of the objects in the list.
    associatedtype ListEntity: Model

    /// Called before the other calls of a change.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntity>)
    /// Called after the other calls of a change.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntity>)
    /// Called before the list is replaced by that of another query; see ``ListMonitor/refetch(_:sectionBy:)``.
    func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntity>)
    /// Called when the list was replaced.
    func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntity>)
}

extension ListObserver {
    public func listMonitorWillChange(_ monitor: ListMonitor<ListEntity>) {}
    public func listMonitorDidChange(_ monitor: ListMonitor<ListEntity>) {}
    public func listMonitorWillRefetch(_ monitor: ListMonitor<ListEntity>) {}
    public func listMonitorDidRefetch(_ monitor: ListMonitor<ListEntity>) {}
}
