import PolyStoreKernel

extension ViewContext {
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
