import Foundation
import PolyStoreBackend

/// A list of objects that is kept current, with observers that are told of each change.
///
///     let monitor = try stack.view.monitorList(From<Person>(), Where(\.age > 30), OrderBy(.ascending(\.name)))
///     monitor.addObserver(controller)
///     print(monitor.count, monitor[0].name)
///
/// Made by ``MonitoringContext/monitorList(_:)`` and ``MonitoringContext/monitorSectionedList(_:_:)``. It follows its context: a view after each commit, a
/// ``RefreshableContext`` when it is refreshed, an ``UnsafeTransaction`` at each ``UnsafeTransaction/flush()``. Observers are held weakly, and may be added and removed at
/// any time, in a callback too. The cost of a commit is in proportion to what it changes, not to the length of the list; see ``explain()`` for the exceptions.
///
/// Not Sendable: it belongs to its context, which it keeps alive.
public final class ListMonitor<T: Model> {
    /// An observer, by what it observes: casts to these types take too long for each change.
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
    private(set) var list: ObservedList
    private var references: [Reference] = []
    private var changeHandlers: [(id: Int, call: (ListMonitor<T>, ListDelta) -> Void)] = []
    private var lastHandler = 0
    /// What the observers have not been told yet.
    private var delta: ListDelta?
    /// A Boolean value that indicates whether the list could not be read, and must be read again.
    private var isOutdated = false
    private let page = ListPage<T>()

    init(_ context: Context, _ query: ListQuery) throws {
        self.context = context
        context.startObserving()
        list = try ObservedList(query, context)
        context.startObserving().add(self)
    }

    /// - Parameter list: a list that was read in the snapshots that the context shows.
    init(_ context: Context, _ list: ObservedList) throws {
        self.context = context
        self.list = list
        context.startObserving().add(self)
    }

    // MARK: Observers

    /// Adds an observer, which is held weakly. One that is there already is not added again.
    public func addObserver(_ observer: any ListObserver<T>) {
        references.removeAll { $0.observer == nil }
        guard !references.contains(where: { $0.observer === observer }) else { return }
        references.append(Reference(observer))
    }

    /// Removes an observer. It receives no further call, also of a change that is being reported.
    public func removeObserver(_ observer: any ListObserver<T>) { references.removeAll { $0.observer == nil || $0.observer === observer } }

    /// Calls a closure with each change.
    func onChange(_ call: @escaping (ListMonitor<T>, ListDelta) -> Void) -> Int {
        lastHandler += 1
        changeHandlers.append((lastHandler, call))
        return lastHandler
    }

    func removeHandler(_ id: Int) { changeHandlers.removeAll { $0.id == id } }

    /// Calls each observer, but those that were removed meanwhile.
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

    /// The object of a row: read together with its neighbors, which are likely to be asked for next.
    func object(at position: Int) -> T { page.object(at: position, of: list, context) }

    func object(of row: ListRow) -> T { context.object(T.self, row.slot, row.rowID) }

    /// The object of a row that has left the list: of a deleted one what the context still has of it.
    private func object(ofRemoved row: ListRow) -> T {
        if let living = context.living(T.self, row.slot, row.rowID) { return living }
        let isThere = (try? context.record(context.entry(row.slot), row.rowID)) ?? nil != nil
        return isThere ? object(of: row) : context.missing(T.self, row.slot, row.rowID)
    }

    // MARK: Refetching

    /// Replaces the condition, the order, the limit or all of them, and fetches the list again. Observers are told by
    /// ``ListObserver/listMonitorWillRefetch(_:)`` and ``ListObserver/listMonitorDidRefetch(_:)`` and not of each object.
    /// - Parameters:
    ///   - source: the new query.
    ///   - sectionBy: the new sections; nil: a list without sections.
    /// - Throws: what a fetch throws; the list then stays as it was.
    public func refetch<S: FetchSource>(_ source: S, sectionBy: SectionBy<T>? = nil) throws where S.Entity == T {
        let new = try ObservedList(ListQuery(source.chain, sectionBy), context)
        forEachObserver { $0.listMonitorWillRefetch(self) }
        context.startObserving().remove(self)
        list = new
        context.startObserving().add(self)
        page.removeAll()
        forEachObserver { $0.listMonitorDidRefetch(self) }
    }

    /// How the list follows changes, and how it is fetched: a text for people.
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
    var observedSlots: [Int32]? { list.resolved.parts.map(\.slot) }

    func contextWillMove(_ move: ContextMove) {}

    func contextDidMove(_ move: ContextMove, _ context: Context) {
        do {
            if move.isPartial || move.hasNewStores || isOutdated {
                let wasOutdated = isOutdated
                let change = try list.refetch(context) { row in
                    wasOutdated || move.step.row(row.slot, row.rowID)?.isUpdate ?? move.isChanged(row)
                }
                delta = change.isEmpty ? nil : change
            } else {
                delta = try list.update(move.step, context)
            }
            isOutdated = false
        } catch {
            isOutdated = true
            context.log(.error, "A monitored list of \(list.query.entityName) could not be brought up to date: \(error)")
        }
        if delta != nil { page.removeAll() }
        guard move.hasNewStores, let observers = context.observers else { return }
        observers.remove(self)
        observers.add(self)
    }

    func notify() {
        guard let delta else { return }
        self.delta = nil
        for handler in changeHandlers { handler.call(self, delta) }
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
