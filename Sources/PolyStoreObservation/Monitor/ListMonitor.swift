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
        /// The number of the addition: an observer that was removed and added again is a new one.
        let number: Int

        init(_ observer: any ListObserver<T>, _ number: Int) {
            self.number = number
            self.observer = observer
            objectObserver = observer as? any ListObjectObserver<T>
            sectionObserver = observer as? any ListSectionObserver<T>
        }
    }

    let context: Context
    private var followed: FollowedList
    var list: ObservedList { followed.list }
    private var references: [Reference] = []
    private var lastNumber = 0
    /// The change that has not been reported yet, and the observers at the time of the change.
    private var unreported: (delta: ListDelta, audience: [Reference])?
    private let page = ListPage<T>()

    init(_ context: Context, _ query: ListQuery) throws {
        self.context = context
        context.startObserving()
        followed = FollowedList(try ObservedList(query, context))
        context.startObserving().add(self)
    }

    /// - Parameter list: A list that was read from the snapshots that the context shows.
    init(_ context: Context, _ list: ObservedList) throws {
        self.context = context
        followed = FollowedList(list)
        context.startObserving().add(self)
    }

    // MARK: Observers

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any ListObserver<T>) {
        references.removeAll { $0.observer == nil }
        guard !references.contains(where: { $0.observer === observer }) else { return }
        lastNumber += 1
        references.append(Reference(observer, lastNumber))
    }

    /// Removes an observer. It receives no further calls, even for a change that is being reported.
    public func removeObserver(_ observer: any ListObserver<T>) { references.removeAll { $0.observer == nil || $0.observer === observer } }

    /// Calls the observers of a change, except those that were removed since.
    private func forEachObserver(of audience: [Reference], _ call: (any ListObserver<T>) -> Void) {
        forEachReference(of: audience) { if let observer = $0.observer { call(observer) } }
    }

    private func forEachReference(of audience: [Reference], _ call: (Reference) -> Void) {
        for reference in audience where references.contains(where: { $0.number == reference.number }) { call(reference) }
    }

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
        if let living = context.living(T.self, row.entityIndex, row.rowID) { return living }
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
        let new = FollowedList(try ObservedList(ListQuery(source.chain, sectionBy), context))
        context.report { [self] isDeferred in
            // The context may have moved in the meantime.
            if isDeferred { new.readAgain(context) }
            replace(by: new)
        }
    }

    private func replace(by new: FollowedList) {
        // Includes observers that are added by the calls, while the list is still the old one.
        var audience: [Reference] = []
        while let next = references.first(where: { $0.number > audience.last?.number ?? 0 }) {
            audience.append(next)
            next.observer?.listMonitorWillRefetch(self)
        }
        followed = new
        observeAgain(context)
        page.removeAll()
        forEachObserver(of: audience) { $0.listMonitorDidRefetch(self) }
    }

    /// Returns a readable description of how the list is updated and fetched.
    public func explain() throws -> String {
        let mode =
            switch list.mode {
            case .incremental where list.resolved.parts[0].needsRelated:
                "followed incrementally; fetched again when a related object changes that it depends on"
            case .incremental: "followed incrementally"
            case .refetched(let reason): "fetched again when a change may concern it, as \(reason.rawValue)"
            }
        let plans = try list.resolved.parts.map { "\(try context.storage($0.entry.store).explained($0.request))" }
        return (["\(list.query.entityName): \(mode)"] + plans).joined(separator: "\n")
    }
}

extension ListMonitor: ContextObserver {
    package var route: ObserverRoute? { list.route }
    package var observedEntities: [Int32]? { list.resolved.parts.map(\.entityIndex) }

    package func contextDidMove(_ move: ContextMove, _ context: Context) {
        unreported = followed.follow(move, context).map { ($0, references) }
        if unreported != nil { page.removeAll() }
        if move.hasNewStores { observeAgain(context) }
    }

    package func notify() {
        guard let (delta, audience) = unreported else { return }
        unreported = nil
        forEachObserver(of: audience) { $0.listMonitorWillChange(self) }
        for section in delta.insertedSections {
            notifySections(audience) { $0.listMonitor(self, didInsertSection: self.sections[section.index], toSectionIndex: section.index) }
        }
        guard audience.contains(where: { $0.objectObserver != nil }) else {
            return forEachObserver(of: audience) { $0.listMonitorDidChange(self) }
        }
        for change in delta.deleted {
            let object = object(ofRemoved: change.row)
            notifyObjects(audience) { $0.listMonitor(self, didDeleteObject: object, fromIndexPath: change.position.indexPath) }
        }
        for change in delta.inserted {
            let object = object(of: change.row)
            notifyObjects(audience) { $0.listMonitor(self, didInsertObject: object, toIndexPath: change.position.indexPath) }
        }
        for change in delta.updated {
            let object = object(of: change.row)
            notifyObjects(audience) { $0.listMonitor(self, didUpdateObject: object, atIndexPath: change.position.indexPath) }
        }
        for move in delta.moved {
            let object = object(of: move.row)
            notifyObjects(audience) {
                $0.listMonitor(self, didMoveObject: object, fromIndexPath: move.from.indexPath, toIndexPath: move.to.indexPath)
            }
        }
        for section in delta.deletedSections {
            let old = ListSection(name: section.name, range: 0..<0)
            notifySections(audience) { $0.listMonitor(self, didDeleteSection: old, fromSectionIndex: section.index) }
        }
        forEachObserver(of: audience) { $0.listMonitorDidChange(self) }
    }

    private func notifyObjects(_ audience: [Reference], _ call: (any ListObjectObserver<T>) -> Void) {
        forEachReference(of: audience) { if let observer = $0.objectObserver { call(observer) } }
    }

    private func notifySections(_ audience: [Reference], _ call: (any ListSectionObserver<T>) -> Void) {
        forEachReference(of: audience) { if let observer = $0.sectionObserver { call(observer) } }
    }
}

extension ListPosition {
    var indexPath: IndexPath { IndexPath(indexes: [section, item]) }
}
