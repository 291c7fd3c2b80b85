import PolyStoreBackend
import PolyStoreKernel

/// A context whose lists and objects can be monitored: ``ViewContext``, ``RefreshableContext`` and ``UnsafeTransaction``.
public protocol MonitoringContext: Context {}

extension RefreshableContext: MonitoringContext {}
extension UnsafeTransaction: MonitoringContext {}

extension MonitoringContext {
    /// Returns a monitor of the matching objects, in order.
    /// - Parameter source: The query, including its limit and offset.
    /// - Throws: Errors of a fetch.
    public func monitorList<S: FetchSource>(_ source: S) throws -> ListMonitor<S.Entity> {
        try ListMonitor(self, FollowedList(ListQuery(source.chain), self))
    }

    /// Returns a monitor of the matching objects, in order and divided into sections. The form of CoreStore; the same as
    /// `monitorList(source.sectionBy(…))`.
    public func monitorSectionedList<S: FetchSource>(_ source: S, _ sectionBy: SectionBy<S.Entity>) throws -> ListMonitor<S.Entity> {
        try ListMonitor(self, FollowedList(ListQuery(source.chain, sectionBy), self))
    }

    /// Returns a monitor of the matching objects, divided into the sections of a chain.
    public func monitorList<T>(_ chain: SectionedChain<T>) throws -> ListMonitor<T> {
        try ListMonitor(self, FollowedList(ListQuery(chain.chain, chain.section), self))
    }

    /// Returns a monitor of the matching objects, in order. The form with clauses; the same as a chain.
    public func monitorList<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> ListMonitor<T> {
        try monitorList(from.chain(clauses))
    }

    /// Returns a monitor of the matching objects, in order and divided into sections. The form of CoreStore with clauses.
    public func monitorSectionedList<T>(
        _ from: From<T>, _ sectionBy: SectionBy<T>, _ clauses: any FetchClause<T>...
    ) throws -> ListMonitor<T> {
        try monitorSectionedList(from.chain(clauses), sectionBy)
    }

    /// Returns a monitor of one object.
    /// - Parameter object: An object of any context; the monitor uses the object of this context.
    /// - Throws: `notFound` if this context does not contain the object.
    public func monitorObject<T: Model>(_ object: T) throws -> ObjectMonitor<T> { try monitorObject(object.objectID) }

    /// Returns a monitor of the object with an id.
    /// - Throws: `notFound` if this context does not contain the object.
    public func monitorObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectMonitor<T> { try monitor(of: id) }
}

extension Context {
    /// Returns a monitor of the object with an id. The context must move to newer versions; see ``Context/movesToVersions``.
    /// - Throws: `notFound` if this context does not contain the object.
    func monitor<T: Model>(of id: ObjectID<T>) throws -> ObjectMonitor<T> {
        guard let object = try fetchExisting(id) else {
            throw StoreError(
                .notFound, "\(id) cannot be monitored: this context does not find it.", entity: id.entityName, rowID: id.rowID)
        }
        return try ObjectMonitor(self, object.objectID)
    }
}
