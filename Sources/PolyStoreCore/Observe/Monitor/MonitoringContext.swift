import PolyStoreBackend

/// A context whose lists and objects can be monitored: ``ViewContext``, ``RefreshableContext`` and ``UnsafeTransaction``.
public protocol MonitoringContext: Context {}

extension RefreshableContext: MonitoringContext {}
extension UnsafeTransaction: MonitoringContext {}

extension MonitoringContext {
    /// A list of the objects that match, in order, which follows every change.
    /// - Parameter source: what to fetch; limit and offset included.
    /// - Throws: what a fetch throws.
    public func monitorList<S: FetchSource>(_ source: S) throws -> ListMonitor<S.Entity> {
        try ListMonitor(self, ListQuery(source.chain, nil))
    }

    /// The same, divided into sections.
    public func monitorSectionedList<S: FetchSource>(_ source: S, _ sectionBy: SectionBy<S.Entity>) throws -> ListMonitor<S.Entity> {
        try ListMonitor(self, ListQuery(source.chain, sectionBy))
    }

    /// A list of the objects that match, in order, which follows every change.
    public func monitorList<T>(_ from: From<T>, _ first: any FetchClause<T>) throws -> ListMonitor<T> { try monitorList(from.chain(first)) }
    public func monitorList<T>(_ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>) throws -> ListMonitor<T> {
        try monitorList(from.chain(first, second))
    }
    public func monitorList<T>(
        _ from: From<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>, _ third: any FetchClause<T>
    ) throws -> ListMonitor<T> {
        try monitorList(from.chain(first, second, third))
    }

    /// The same, divided into sections.
    public func monitorSectionedList<T>(
        _ from: From<T>, _ sectionBy: SectionBy<T>, _ first: any FetchClause<T>
    ) throws -> ListMonitor<T> {
        try monitorSectionedList(from.chain(first), sectionBy)
    }
    public func monitorSectionedList<T>(
        _ from: From<T>, _ sectionBy: SectionBy<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>
    ) throws -> ListMonitor<T> {
        try monitorSectionedList(from.chain(first, second), sectionBy)
    }
    public func monitorSectionedList<T>(
        _ from: From<T>, _ sectionBy: SectionBy<T>, _ first: any FetchClause<T>, _ second: any FetchClause<T>,
        _ third: any FetchClause<T>
    ) throws -> ListMonitor<T> {
        try monitorSectionedList(from.chain(first, second, third), sectionBy)
    }

    /// Monitors one object.
    /// - Parameter object: an object of any context; the monitor's is this context's.
    /// - Throws: `notFound` for an object that this context does not find.
    public func monitorObject<T: Model>(_ object: T) throws -> ObjectMonitor<T> { try monitorObject(object.objectID) }

    /// Monitors the object of an id.
    /// - Throws: `notFound` for an object that this context does not find.
    public func monitorObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectMonitor<T> {
        guard let object = try fetchExisting(id) else {
            throw StoreError(
                .notFound, "\(id) cannot be monitored: this context does not find it.", entity: id.entityName, objectID: id.key)
        }
        return try ObjectMonitor(self, object)
    }
}

extension Context {
    /// The observers of the context; from the first call on it collects what it must know to notify them.
    @discardableResult
    final func startObserving() -> ContextObservers {
        if let observers { return observers }
        let new = ContextObservers()
        observers = new
        beginObserving()
        return new
    }
}
