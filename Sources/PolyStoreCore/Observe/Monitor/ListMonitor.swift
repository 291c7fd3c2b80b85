import Foundation
import PolyStoreBackend

/// A list of objects that is kept up to date and notifies its observers of each change.
///
///     let monitor = try stack.view.monitorList(From<Person>(), Where(\.age > 30), OrderBy(.ascending(\.name)))
///     monitor.addObserver(controller)
///     print(monitor.count, monitor[0].name)
///
/// Created by `MonitoringContext.monitorList(_:)` and ``MonitoringContext/monitorSectionedList(_:_:)``. It is updated with its context: a view after each
/// commit, a ``RefreshableContext`` when it is refreshed, an ``UnsafeTransaction`` at each ``UnsafeTransaction/flush()``. Observers are held weakly. They may
/// be added and removed at any time, including in a callback. The cost of a commit is proportional to its changes, not to the length of the list; see
/// ``explain()`` for the exceptions.
///
/// Not Sendable: it belongs to its context, which it retains.
public final class ListMonitor<T: Model> {
    /// An observer with its protocol conformances, cached because dynamic casts for each change are expensive.
    private struct Reference {
        weak var observer: (any ListObserver<T>)?
        weak var objectObserver: (any ListObjectObserver<T>)?
        weak var sectionObserver: (any ListSectionObserver<T>)?

        init(_ observer: any ListObserver<T>) {
            self.observer = observer
            objectObserver = observer as? any ListObjectObserver<T>
            sectionObserver = observer as? any ListSectionObserver<T>
        }
    }

    let context: Context
    private var followed: FollowedList
    var list: ObservedList { followed.list }
    private var references: [Reference] = []
    /// The changes that the observers have not been notified of yet.
    private var delta: ListDelta?
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
        references.append(Reference(observer))
    }

    /// Removes an observer. It receives no further calls, even for a change that is being reported.
    public func removeObserver(_ observer: any ListObserver<T>) { references.removeAll { $0.observer == nil || $0.observer === observer } }

    /// Calls each observer, except those that are removed meanwhile.
    private func forEachObserver(_ call: (any ListObserver<T>) -> Void) {
        forEachReference { if let observer = $0.observer { call(observer) } }
    }

    private func forEachReference(_ call: (Reference) -> Void) {
        for reference in references {
            guard let observer = reference.observer, references.contains(where: { $0.observer === observer }) else { continue }
            call(reference)
        }
    }

    // MARK: Objects

    /// Returns the object of a row. Reads it together with neighboring rows, which are likely to be accessed next.
    func object(at position: Int) -> T { page.object(at: position, of: list, context) }

    func object(of row: RowReference) -> T { context.object(T.self, row.entityIndex, row.rowID) }

    /// Returns the object of a row that has left the list. A deleted object has the values that the context still holds.
    private func object(ofRemoved row: RowReference) -> T {
        if let living = context.living(T.self, row.entityIndex, row.rowID) { return living }
        let isThere = (try? context.record(context.entry(row.entityIndex), row.rowID)) ?? nil != nil
        return isThere ? object(of: row) : context.missing(T.self, row.entityIndex, row.rowID)
    }

    // MARK: Refetching

    /// Replaces the query and fetches the list again. Observers are notified with
    /// ``ListObserver/listMonitorWillRefetch(_:)`` and ``ListObserver/listMonitorDidRefetch(_:)`` instead of for each object.
    /// - Parameters:
    ///   - source: The new query.
    ///   - sectionBy: The new sections; `nil` for a list without sections.
    /// - Throws: Errors of a fetch; the list is then unchanged.
    public func refetch<S: FetchSource>(_ source: S, sectionBy: SectionBy<T>? = nil) throws where S.Entity == T {
        let new = try ObservedList(ListQuery(source.chain, sectionBy), context)
        forEachObserver { $0.listMonitorWillRefetch(self) }
        followed = FollowedList(new)
        observeAgain(context)
        page.removeAll()
        forEachObserver { $0.listMonitorDidRefetch(self) }
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
    var route: ObserverRoute? { list.route }
    var observedEntities: [Int32]? { list.resolved.parts.map(\.entityIndex) }

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        delta = followed.follow(move, context)
        if delta != nil { page.removeAll() }
        if move.hasNewStores { observeAgain(context) }
    }

    func notify() {
        guard let delta else { return }
        self.delta = nil
        forEachObserver { $0.listMonitorWillChange(self) }
        for section in delta.insertedSections {
            notifySections { $0.listMonitor(self, didInsertSection: self.sections[section.index], toSectionIndex: section.index) }
        }
        guard references.contains(where: { $0.objectObserver != nil }) else { return forEachObserver { $0.listMonitorDidChange(self) } }
        for change in delta.deleted {
            let object = object(ofRemoved: change.row)
            notifyObjects { $0.listMonitor(self, didDeleteObject: object, fromIndexPath: change.position.indexPath) }
        }
        for change in delta.inserted {
            let object = object(of: change.row)
            notifyObjects { $0.listMonitor(self, didInsertObject: object, toIndexPath: change.position.indexPath) }
        }
        for change in delta.updated {
            let object = object(of: change.row)
            notifyObjects { $0.listMonitor(self, didUpdateObject: object, atIndexPath: change.position.indexPath) }
        }
        for move in delta.moved {
            let object = object(of: move.row)
            notifyObjects {
                $0.listMonitor(self, didMoveObject: object, fromIndexPath: move.from.indexPath, toIndexPath: move.to.indexPath)
            }
        }
        for section in delta.deletedSections {
            let old = ListSection(name: section.name, range: 0..<0)
            notifySections { $0.listMonitor(self, didDeleteSection: old, fromSectionIndex: section.index) }
        }
        forEachObserver { $0.listMonitorDidChange(self) }
    }

    private func notifyObjects(_ call: (any ListObjectObserver<T>) -> Void) {
        forEachReference { if let observer = $0.objectObserver { call(observer) } }
    }

    private func notifySections(_ call: (any ListSectionObserver<T>) -> Void) {
        forEachReference { if let observer = $0.sectionObserver { call(observer) } }
    }
}

extension ListPosition {
    var indexPath: IndexPath { IndexPath(indexes: [section, item]) }
}
