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

/// A ``ListObserver`` that is also notified of each object. Index paths have two indexes: section and item.
public protocol ListObjectObserver<ListEntity>: ListObserver {
    /// Called for each inserted object.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - object: The inserted object.
    ///   - indexPath: The new position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertObject object: ListEntity, toIndexPath indexPath: IndexPath)
    /// Called for each object that leaves the list.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - object: The object. Its ``Model/isDeleted`` is true if it was deleted; otherwise it no longer matches.
    ///   - indexPath: The old position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteObject object: ListEntity, fromIndexPath indexPath: IndexPath)
    /// Called for each updated object that did not move.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - object: The updated object.
    ///   - indexPath: The new position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didUpdateObject object: ListEntity, atIndexPath indexPath: IndexPath)
    /// Called for each moved object.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - object: The moved object.
    ///   - fromIndexPath: The old position.
    ///   - toIndexPath: The new position.
    func listMonitor(
        _ monitor: ListMonitor<ListEntity>, didMoveObject object: ListEntity, fromIndexPath: IndexPath, toIndexPath: IndexPath)
}

extension ListObjectObserver {
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertObject object: ListEntity, toIndexPath indexPath: IndexPath) {}
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteObject object: ListEntity, fromIndexPath indexPath: IndexPath) {}
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didUpdateObject object: ListEntity, atIndexPath indexPath: IndexPath) {}
    public func listMonitor(
        _ monitor: ListMonitor<ListEntity>, didMoveObject object: ListEntity, fromIndexPath: IndexPath, toIndexPath: IndexPath
    ) {}
}

/// A ``ListObjectObserver`` that is also notified of sections.
public protocol ListSectionObserver<ListEntity>: ListObjectObserver {
    /// Called for each inserted section.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - section: The inserted section.
    ///   - sectionIndex: The new index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int)
    /// Called for each deleted section.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - section: The deleted section, without objects.
    ///   - sectionIndex: The old index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {}
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {
    }
}
