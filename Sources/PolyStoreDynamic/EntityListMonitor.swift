public import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreObservation

/// A list of objects without a class that is kept up to date and notifies its observers of each change.
///
///     let monitor = try stack.view.monitorList(EntityQuery("Person").where("age > 30").orderBy("name"), sectionBy: "department.title")
///     monitor.addObserver(controller)
///     print(monitor.count, try monitor[0].value("name") ?? "–")
///
/// It is updated with its context as a `ListMonitor` is, with the same rules for callbacks. Not Sendable: it belongs to its context, which it retains.
public final class EntityListMonitor {
    private let list: any EntityList

    fileprivate init(_ list: any EntityList) {
        self.list = list
        list.owner = self
    }

    // MARK: Observers

    /// Adds an observer, which is held weakly. Adding it again has no effect.
    public func addObserver(_ observer: any EntityListObserver) { list.addObserver(observer) }

    /// Removes an observer. It receives no further calls, even for a change that is being reported.
    public func removeObserver(_ observer: any EntityListObserver) { list.removeObserver(observer) }

    // MARK: Sections

    /// The sections in order. A list without sections has one unnamed section.
    public var sections: ListSections { list.sections }

    /// The object at an index path of section and item, which must be valid.
    public subscript(indexPath: IndexPath) -> DynamicObject {
        precondition(indexPath.count == 2, "An index path of a list has a section and an item.")
        return self[sections[indexPath[0]].range.lowerBound + indexPath[1]]
    }

    // MARK: Objects

    /// The ids of all objects, in order, without reading any.
    public var objectIDs: [AnyObjectID] { list.objectIDs }

    /// Returns the position of the object with an id in the whole list; `nil` if it is not in the list.
    public func index(of id: AnyObjectID) -> Int? { list.index(of: id) }

    /// Replaces the query and fetches the list again. The entity must be the same.
    /// - Throws: `misuse` for another entity, and errors of a fetch; the list is then unchanged.
    public func refetch(_ query: EntityQuery, sectionBy path: String? = nil) throws { try list.refetch(query, path) }

    /// Returns a readable description of how the list is updated and fetched.
    public func explain() throws -> String { try list.explain() }
}

extension EntityListMonitor: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { list.count }
    /// The object at a position of the whole list, which must be less than `count`.
    public subscript(position: Int) -> DynamicObject { list.object(at: position) }
}

extension MonitoringContext {
    /// Returns a monitor of the objects of a query by name, in order.
    /// - Parameters:
    ///   - query: The query, including its limit and offset.
    ///   - path: The attribute, or the path of one, that divides the list into sections; `nil` for none.
    /// - Throws: `storeNotFound` for an unknown entity, and errors of a fetch.
    public func monitorList(_ query: EntityQuery, sectionBy path: String? = nil) throws -> EntityListMonitor {
        let entry = try entry(named: query.entity)
        func list<T: Model>(_ type: T.Type) throws -> any EntityList { try EntityListOfClass<T>(self, query, path, entry) }
        return EntityListMonitor(try list(entry.type))
    }
}

/// The list of a monitor, whose class is known only at run time.
private protocol EntityList: AnyObject {
    var owner: EntityListMonitor? { get set }
    var count: Int { get }
    var objectIDs: [AnyObjectID] { get }
    var sections: ListSections { get }
    func addObserver(_ observer: any EntityListObserver)
    func removeObserver(_ observer: any EntityListObserver)
    func object(at position: Int) -> DynamicObject
    func index(of id: AnyObjectID) -> Int?
    func refetch(_ query: EntityQuery, _ section: String?) throws
    func explain() throws -> String
}

private final class EntityListOfClass<T: Model>: EntityList {
    weak var owner: EntityListMonitor?
    private let monitor: ListMonitor<T>
    /// The observers of the class's monitor, one for each observer of this one.
    private var observers: [EntityListForwarder<T>] = []
    private let entry: StoreEntity

    init(_ context: some MonitoringContext, _ query: EntityQuery, _ section: String?, _ entry: StoreEntity) throws {
        self.entry = entry
        let chain = query.chain(T.self, entry)
        monitor = try section.map { try context.monitorSectionedList(chain, SectionBy($0)) } ?? context.monitorList(chain)
    }

    func addObserver(_ observer: any EntityListObserver) {
        guard !observers.contains(where: { $0.observer === observer }), let owner else { return }
        remove { $0 == nil }
        let forwarder = EntityListForwarder<T>(observer, owner)
        observers.append(forwarder)
        monitor.addObserver(forwarder)
    }

    func removeObserver(_ observer: any EntityListObserver) { remove { $0 === observer } }

    private func remove(_ isRemoved: (AnyObject?) -> Bool) {
        for forwarder in observers where isRemoved(forwarder.observer) { monitor.removeObserver(forwarder) }
        observers.removeAll { isRemoved($0.observer) }
    }

    var count: Int { monitor.count }
    var objectIDs: [AnyObjectID] { monitor.objectIDs.map { AnyObjectID(entry: $0.entry, rowID: $0.rowID) } }
    var sections: ListSections { monitor.sections }
    func object(at position: Int) -> DynamicObject { monitor[position].withoutClass }
    func index(of id: AnyObjectID) -> Int? { id.cast(to: T.self).flatMap { monitor.index(of: $0) } }
    func explain() throws -> String { try monitor.explain() }

    func refetch(_ query: EntityQuery, _ section: String?) throws {
        guard entry.entity.name == query.entity || entry.entity.entityClass(named: query.entity) != nil else {
            throw StoreError(
                .misuse, "A list of \(entry.entity.name) cannot become one of \(query.entity): create another monitor.",
                entity: query.entity)
        }
        try monitor.refetch(query.chain(T.self, entry), sectionBy: section.map { SectionBy($0) })
    }

}

extension Model {
    /// The object; every object of its class is one without a class of its own.
    fileprivate var withoutClass: DynamicObject {
        guard let object = self as? any DynamicModel else { preconditionFailure("\(Self.self) has a class of its own.") }
        return object
    }
}

/// Passes the calls of a monitor of a class to one observer of a monitor without one, so that both have the same rules for observers that are added and removed in callbacks.
private final class EntityListForwarder<T: Model>: ListSectionObserver {
    typealias ListEntity = T

    private(set) weak var observer: (any EntityListObserver)?
    private weak var owner: EntityListMonitor?

    init(_ observer: any EntityListObserver, _ owner: EntityListMonitor) { (self.observer, self.owner) = (observer, owner) }

    func listMonitorWillChange(_ monitor: ListMonitor<T>) { report { $1.listMonitorWillChange($0) } }
    func listMonitorDidChange(_ monitor: ListMonitor<T>) { report { $1.listMonitorDidChange($0) } }
    func listMonitorWillRefetch(_ monitor: ListMonitor<T>) { report { $1.listMonitorWillRefetch($0) } }
    func listMonitorDidRefetch(_ monitor: ListMonitor<T>) { report { $1.listMonitorDidRefetch($0) } }
    func listMonitor(_ monitor: ListMonitor<T>, didInsertObject object: T, toIndexPath indexPath: IndexPath) {
        report { $1.listMonitor($0, didInsertObject: object.withoutClass, toIndexPath: indexPath) }
    }
    func listMonitor(_ monitor: ListMonitor<T>, didDeleteObject object: T, fromIndexPath indexPath: IndexPath) {
        report { $1.listMonitor($0, didDeleteObject: object.withoutClass, fromIndexPath: indexPath) }
    }
    func listMonitor(_ monitor: ListMonitor<T>, didUpdateObject object: T, atIndexPath indexPath: IndexPath) {
        report { $1.listMonitor($0, didUpdateObject: object.withoutClass, atIndexPath: indexPath) }
    }
    func listMonitor(_ monitor: ListMonitor<T>, didMoveObject object: T, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        report { $1.listMonitor($0, didMoveObject: object.withoutClass, fromIndexPath: fromIndexPath, toIndexPath: toIndexPath) }
    }
    func listMonitor(_ monitor: ListMonitor<T>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {
        report { $1.listMonitor($0, didInsertSection: section, toSectionIndex: sectionIndex) }
    }
    func listMonitor(_ monitor: ListMonitor<T>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {
        report { $1.listMonitor($0, didDeleteSection: section, fromSectionIndex: sectionIndex) }
    }

    private func report(_ call: (EntityListMonitor, any EntityListObserver) -> Void) {
        if let owner, let observer { call(owner, observer) }
    }
}
