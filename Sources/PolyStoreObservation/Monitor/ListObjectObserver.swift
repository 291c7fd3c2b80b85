import Foundation
import PolyStoreKernel

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
