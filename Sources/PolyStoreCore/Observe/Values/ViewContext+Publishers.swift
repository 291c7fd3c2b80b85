extension ViewContext {
    /// A publisher of the list that is fetched.
    ///
    ///     let publisher = try stack.view.publishList(From<Person>(), OrderBy(.ascending(\.name)))
    /// - Throws: what a fetch throws.
    @MainActor
    public func publishList<S: FetchSource>(
        _ source: S, _ clauses: any FetchClause<S.Entity>..., sectionBy: SectionBy<S.Entity>? = nil,
        content: SnapshotContent<S.Entity> = .all
    ) throws -> ListPublisher<S.Entity> {
        try ListPublisher(self, ListQuery(source.chain(clauses), sectionBy), content)
    }

    /// A publisher of the values of an object. The object need not exist: it is published when it is inserted.
    /// - Throws: what reading the object throws.
    @MainActor
    public func publishObject<T: Model>(_ id: ObjectID<T>) throws -> ObjectPublisher<T> { try ObjectPublisher(self, id) }

    /// A publisher of the values of an object, of whatever context.
    /// - Throws: what reading the object throws.
    @MainActor
    public func publishObject<T: Model>(_ object: T) throws -> ObjectPublisher<T> { try publishObject(object.objectID) }
}
