import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A list of objects that is kept up to date and notifies its observers of each change.
///
///     let monitor = try stack.view.monitorList(From<Person>(), Where(\.age > 30), OrderBy(.ascending(\.name)))
///     monitor.addObserver(controller)
///     print(monitor.count, monitor[0].name)
///
/// Created by `MonitoringContext.monitorList(_:)` and ``MonitoringContext/monitorSectionedList(_:_:)``. It is updated with its context: a view after each
/// commit, a ``RefreshableContext`` when it is refreshed, an ``UnsafeTransaction`` at each ``UnsafeTransaction/flush()``. Observers are held weakly. The cost
/// of a commit is proportional to its changes, not to the length of the list; see ``explain()`` for the exceptions.
///
/// A callback may do anything: commit, refetch this or another monitor, refresh the context, flush, roll back or commit the transaction, and add and remove
/// observers and monitors. The list changes, and is reported, when all callbacks of the context have returned. An observer that is added in a callback gets
/// all calls of a change or none: none if the list already shows the change.
///
/// Not Sendable: it belongs to its context, which it retains.
public final class ListMonitor<T: Model> {
    /// An observer with its protocol conformances, cached because dynamic casts for each change are expensive.
    private struct Reference {
        weak var observer: (any ListObserver<T>)?
        weak var objectObserver: (any ListObjectObserver<T>)?
        weak var sectionObserver: (any ListSectionObserver<T>)?
    }

    let context: Context
    let list: FollowedList
    private let observers: Subscribers<Reference>
    private let page = ListPage<T>()

    init(_ context: Context, _ list: FollowedList) {
        self.context = context
        self.list = list
        observers = Subscribers(list.subscribers.numbers)
        list.subscribers.add(self) { [weak self] change in self?.report(change) }
    }

    // MARK: Observers

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any ListObserver<T>) {
        guard !observers.contains(observer) else { return }
        let reference = Reference(
            observer: observer, objectObserver: observer as? any ListObjectObserver<T>,
            sectionObserver: observer as? any ListSectionObserver<T>)
        observers.add(observer, reference)
    }

    /// Removes an observer. It receives no further calls, even for a change that is being reported.
    public func removeObserver(_ observer: any ListObserver<T>) { observers.remove(observer) }

    // MARK: Objects

    /// Returns the object of a row. Reads it together with neighboring rows, which are likely to be accessed next.
    func object(at position: Int) -> T { page.object(at: position, of: list, context) }

    func object(of row: RowReference) -> T {
        let object = context.object(T.self, row.entityIndex, row.rowID)
        // A callback may have discarded the object; it is then marked as deleted.
        if !context.deferredReports.isEmpty, object._$state.isFault { try? context.look(up: object, context.entry(row.entityIndex)) }
        return object
    }

    /// Returns the object of a row that has left the list. A deleted object has the values that the context still holds.
    private func object(ofRemoved row: RowReference) -> T {
        if let registered = context.registered(T.self, row.entityIndex, row.rowID) { return registered }
        let isThere = (try? context.record(context.entry(row.entityIndex), row.rowID)) ?? nil != nil
        return isThere ? object(of: row) : context.missing(T.self, row.entityIndex, row.rowID)
    }

    // MARK: Refetching

    /// Replaces the query and fetches the list again. Observers are notified with
    /// ``ListObserver/listMonitorWillRefetch(_:)`` and ``ListObserver/listMonitorDidRefetch(_:)`` instead of for each object. In a callback of this or another
    /// monitor of the context, the list is replaced when all callbacks have returned.
    /// - Parameters:
    ///   - source: The new query.
    ///   - sectionBy: The new sections; `nil` for a list without sections.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    public func refetch<S: FetchSource>(_ source: S, sectionBy: SectionBy<T>? = nil) throws where S.Entity == T {
        try list.refetch(ListQuery(source.chain, sectionBy), context) { [self] in
            // Includes observers that are added by the calls, while the list is still the old one.
            var last = 0
            while let next = observers.next(after: last) {
                last = next.number
                next.subscriber.observer?.listMonitorWillRefetch(self)
            }
            return last
        }
    }

    /// Returns a readable description of how the list is updated and fetched.
    public func explain() throws -> String {
        let mode =
            switch list.rows.mode {
            case .incremental where list.rows.resolved.parts[0].needsRelated:
                "followed incrementally; fetched again when a related object changes that it depends on"
            case .incremental: "followed incrementally"
            case .refetched(let reason): "fetched again when a change may concern it, as \(reason.rawValue)"
            }
        context.beginReading()
        defer { context.endReading() }
        let plans = try list.rows.resolved.parts.map { "\(try context.storage($0.entry.store).explained($0.request))" }
        return (["\(list.rows.query.entityName): \(mode)"] + plans).joined(separator: "\n")
    }
}

extension ListMonitor {
    /// Calls the observers with a change, in the order that ``ListObserver`` documents.
    private func report(_ change: ListNotification) {
        page.removeAll()
        guard let delta = change.delta else { return callObservers(of: change) { $0.listMonitorDidRefetch(self) } }
        callObservers(of: change) { $0.listMonitorWillChange(self) }
        for section in delta.insertedSections {
            callSectionObservers(of: change) {
                $0.listMonitor(self, didInsertSection: self.sections[section.index], toSectionIndex: section.index)
            }
        }
        var hasObjectObservers = false
        callObjectObservers(of: change) { _ in hasObjectObservers = true }
        if hasObjectObservers { reportObjects(delta, change) }
        callObservers(of: change) { $0.listMonitorDidChange(self) }
    }

    private func reportObjects(_ delta: ListDelta, _ change: ListNotification) {
        for deletion in delta.deleted {
            let object = object(ofRemoved: deletion.row)
            callObjectObservers(of: change) {
                $0.listMonitor(self, didDeleteObject: object, fromIndexPath: deletion.position.indexPath)
            }
        }
        for insertion in delta.inserted {
            let object = object(of: insertion.row)
            callObjectObservers(of: change) {
                $0.listMonitor(self, didInsertObject: object, toIndexPath: insertion.position.indexPath)
            }
        }
        for update in delta.updated {
            let object = object(of: update.row)
            callObjectObservers(of: change) {
                $0.listMonitor(self, didUpdateObject: object, atIndexPath: update.position.indexPath)
            }
        }
        for move in delta.moved {
            let object = object(of: move.row)
            callObjectObservers(of: change) {
                $0.listMonitor(self, didMoveObject: object, fromIndexPath: move.from.indexPath, toIndexPath: move.to.indexPath)
            }
        }
        for section in delta.deletedSections {
            let old = ListSection(name: section.name, range: 0..<0)
            callSectionObservers(of: change) { $0.listMonitor(self, didDeleteSection: old, fromSectionIndex: section.index) }
        }
    }

    /// Calls the observers of a change, except those that were removed since.
    private func callObservers(of change: ListNotification, _ call: (any ListObserver<T>) -> Void) {
        observers.forEach(through: change.audience) { $0.observer.map(call) }
    }

    private func callObjectObservers(of change: ListNotification, _ call: (any ListObjectObserver<T>) -> Void) {
        observers.forEach(through: change.audience) { $0.objectObserver.map(call) }
    }

    private func callSectionObservers(of change: ListNotification, _ call: (any ListSectionObserver<T>) -> Void) {
        observers.forEach(through: change.audience) { $0.sectionObserver.map(call) }
    }
}

extension ListPosition {
    var indexPath: IndexPath { IndexPath(indexes: [section, item]) }
}
