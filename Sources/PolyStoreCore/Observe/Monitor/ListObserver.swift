public import Foundation

/// An object that a ``ListMonitor`` notifies of changes of its list. Held weakly.
///
/// The calls for one change come in this order: ``listMonitorWillChange(_:)``, inserted sections, deleted objects, inserted objects, updated objects, moved objects,
/// deleted sections, ``listMonitorDidChange(_:)``. In all of them the monitor already shows the new list. Deletions carry old positions, everything else new ones. An
/// object that moves is reported once, also where its properties changed too. A change that leaves the list as it was calls nobody.
///
/// The calls come where the monitor's context is used: those of ``DataStack/view`` on the main actor. A class that belongs to the main actor conforms with
/// `@preconcurrency`: `final class PeopleController: @preconcurrency ListObserver`.
public protocol ListObserver<ListEntity>: AnyObject {
    associatedtype ListEntity: Model

    /// Called before the other calls of a change.
    func listMonitorWillChange(_ monitor: ListMonitor<ListEntity>)
    /// Called after the other calls of a change.
    func listMonitorDidChange(_ monitor: ListMonitor<ListEntity>)
    /// Called before the list is replaced by that of other clauses; see ``ListMonitor/refetch(_:)``.
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
    /// - Parameter indexPath: the new position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertObject object: ListEntity, toIndexPath indexPath: IndexPath)
    /// - Parameters:
    ///   - object: its ``Model/isDeleted`` is true if it was deleted; otherwise it only no longer matches.
    ///   - indexPath: the old position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteObject object: ListEntity, fromIndexPath indexPath: IndexPath)
    /// - Parameter indexPath: the new position.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didUpdateObject object: ListEntity, atIndexPath indexPath: IndexPath)
    /// - Parameters:
    ///   - fromIndexPath: the old position.
    ///   - toIndexPath: the new position.
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
    /// - Parameter sectionIndex: the new index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int)
    /// - Parameters:
    ///   - section: the section as it was, without objects.
    ///   - sectionIndex: the old index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {}
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {
    }
}

/// A section of a list.
public struct ListSection: Sendable, Hashable {
    /// What ``SectionBy`` gives for the objects of the section.
    public let name: String
    /// The positions of the section's objects in the whole list.
    public let range: Range<Int>
    /// The number of objects.
    public var count: Int { range.count }
    /// The first character of the name in upper case; empty for an empty name.
    public var indexTitle: String { name.first.map { $0.uppercased() } ?? "" }

    init(name: String, range: Range<Int>) {
        self.name = name
        self.range = range
    }
}
