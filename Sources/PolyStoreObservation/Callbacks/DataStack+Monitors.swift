import PolyStoreBackend
import PolyStoreKernel

// The monitors and publishers of the view as methods of the stack, where users of CoreStore look for them.

extension DataStack {
    /// Returns a monitor of a list in the ``view``. The form of CoreStore, whose methods belong to the stack; the same as
    /// ``MonitoringContext/monitorList(_:)-(S)`` of the view.
    @MainActor
    public func monitorList<S: FetchSource>(_ source: S) throws -> ListMonitor<S.Entity> { try view.monitorList(source) }
    /// Returns a monitor of a list in the ``view``; see ``monitorList(_:)-(S)``.
    @MainActor
    public func monitorList<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> ListMonitor<T> {
        try view.monitorList(from.chain(clauses))
    }
    /// Returns a monitor of a list in the ``view``, divided into the sections of a chain.
    @MainActor
    public func monitorList<T>(_ chain: SectionedChain<T>) throws -> ListMonitor<T> { try view.monitorList(chain) }

    /// Returns a monitor of a list in the ``view``, divided into sections. The form of CoreStore; the same as `monitorList(chain.sectionBy(…))`.
    @MainActor
    public func monitorSectionedList<T>(
        _ from: From<T>, _ sectionBy: SectionBy<T>, _ clauses: any FetchClause<T>...
    ) throws -> ListMonitor<T> {
        try view.monitorSectionedList(from.chain(clauses), sectionBy)
    }

    /// Returns a monitor of one object in the ``view``.
    /// - Throws: `notFound` if the view does not contain the object.
    @MainActor
    public func monitorObject<T: Model>(_ object: T) throws -> ObjectMonitor<T> { try view.monitorObject(object) }
    @MainActor
    public func monitorObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectMonitor<T> { try view.monitorObject(id) }

    /// Returns a publisher of a list in the ``view``; see ``ViewContext/publishList(_:_:sectionBy:content:)``.
    @MainActor
    public func publishList<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) throws -> ListPublisher<S.Entity> {
        try view.publishList(source.chain(clauses), sectionBy: sectionBy, content: content)
    }
    /// Returns a publisher of a list in the ``view``, divided into the sections of a chain.
    @MainActor
    public func publishList<T>(_ chain: SectionedChain<T>, content: SnapshotContent<T> = .all) throws -> ListPublisher<T> {
        try view.publishList(chain.chain, sectionBy: chain.section, content: content)
    }

    /// Returns a publisher of the values of an object in the ``view``.
    @MainActor
    public func publishObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectPublisher<T> { try view.publishObject(id) }
    @MainActor
    public func publishObject<T: Model>(_ object: T) throws -> ObjectPublisher<T> { try view.publishObject(object) }
}

extension ViewContext {
    /// Returns a publisher of a list, divided into the sections of a chain.
    @MainActor
    public func publishList<T>(_ chain: SectionedChain<T>, content: SnapshotContent<T> = .all) throws -> ListPublisher<T> {
        try publishList(chain.chain, sectionBy: chain.section, content: content)
    }

    /// Returns a publisher of a list.
    ///
    ///     let publisher = try stack.view.publishList(From<Person>(), OrderBy(.ascending(\.name)))
    /// - Throws: Errors of a fetch.
    @MainActor
    public func publishList<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) throws -> ListPublisher<S.Entity> {
        try ListPublisher(self, ListQuery(source.chain(clauses), sectionBy), content)
    }

    /// Returns a publisher of the values of an object. If the object does not exist yet, its values are published when it is inserted.
    /// - Throws: Errors of reading the object.
    @MainActor
    public func publishObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectPublisher<T> { try ObjectPublisher(self, id) }

    /// Returns a publisher of the values of an object of any context.
    /// - Throws: Errors of reading the object.
    @MainActor
    public func publishObject<T: Model>(_ object: T) throws -> ObjectPublisher<T> { try publishObject(object.objectID) }
}
