import PolyStoreAttributes
import PolyStoreBackend

/// A source of objects and values: a ``Context``, or a ``DataStack``, which reads through its view context on the main actor.
///
/// Every method accepts a chain, `From` with any number of clauses, `From` with an array of clauses built at run time, or a class with clauses:
///
///     try context.fetchAll(From<Person>().where(\.age > 30).orderBy(.ascending(\.name)))
///     try context.fetchAll(From<Person>(), Where(\.age > 30), OrderBy(.ascending(\.name)))
///     try context.fetchAll(From<Person>(), clauses)
///     try context.fetchAll(Person.self, Where(\.age > 30))
///
/// Key paths in clauses need no root type: the entity of `From` applies to each clause.
public protocol FetchableSource {
    /// The context that executes the fetches.
    var readingContext: Context { get }
}

extension Context: FetchableSource {
    /// The context itself.
    public final var readingContext: Context { self }
}

extension DataStack: @MainActor FetchableSource {
    /// The ``view``.
    @MainActor public var readingContext: Context { view }
}

// Clauses are existentials rather than generic parameters, so that the type checker knows the entity before it resolves the operators of a predicate.
// Type checking then takes linear time in their number.

extension FetchableSource {
    /// Returns all matching objects, in order.
    public func fetchAll<S: FetchSource>(_ source: S) throws -> [S.Entity] { try readingContext.fetchAll(source) }
    public func fetchAll<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> [T] {
        try readingContext.fetchAll(from.chain(clauses))
    }
    public func fetchAll<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> [T] {
        try readingContext.fetchAll(from.chain(clauses))
    }
    public func fetchAll<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> [T] {
        try readingContext.fetchAll(From<T>().chain(clauses))
    }

    /// Returns the first matching object, or nil if none matches.
    public func fetchOne<S: FetchSource>(_ source: S) throws -> S.Entity? { try readingContext.fetchOne(source) }
    public func fetchOne<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> T? {
        try readingContext.fetchOne(from.chain(clauses))
    }
    public func fetchOne<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> T? {
        try readingContext.fetchOne(from.chain(clauses))
    }
    public func fetchOne<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> T? {
        try readingContext.fetchOne(From<T>().chain(clauses))
    }

    /// Returns the number of matching objects.
    public func fetchCount<S: FetchSource>(_ source: S) throws -> Int { try readingContext.fetchCount(source) }
    public func fetchCount<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> Int {
        try readingContext.fetchCount(from.chain(clauses))
    }
    public func fetchCount<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> Int {
        try readingContext.fetchCount(from.chain(clauses))
    }
    public func fetchCount<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> Int {
        try readingContext.fetchCount(From<T>().chain(clauses))
    }

    /// Returns the ids of all matching objects, in order.
    public func fetchObjectIDs<S: FetchSource>(_ source: S) throws -> [ObjectID<S.Entity>] { try readingContext.fetchObjectIDs(source) }
    public func fetchObjectIDs<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> [ObjectID<T>] {
        try readingContext.fetchObjectIDs(from.chain(clauses))
    }
    public func fetchObjectIDs<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> [ObjectID<T>] {
        try readingContext.fetchObjectIDs(from.chain(clauses))
    }
    public func fetchObjectIDs<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> [ObjectID<T>] {
        try readingContext.fetchObjectIDs(From<T>().chain(clauses))
    }

    /// Returns the id of the first matching object, or nil if none matches.
    public func fetchObjectID<S: FetchSource>(_ source: S) throws -> ObjectID<S.Entity>? { try readingContext.fetchObjectID(source) }
    public func fetchObjectID<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> ObjectID<T>? {
        try readingContext.fetchObjectID(from.chain(clauses))
    }
    public func fetchObjectID<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> ObjectID<T>? {
        try readingContext.fetchObjectID(from.chain(clauses))
    }
    public func fetchObjectID<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> ObjectID<T>? {
        try readingContext.fetchObjectID(From<T>().chain(clauses))
    }

    /// Describes the execution of a fetch: access path, conditions evaluated by the engine, residual predicate. See ``Context/explain(_:)-(S)``.
    public func explain<S: FetchSource>(_ source: S) throws -> String { try readingContext.explain(source) }
    public func explain<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> String {
        try readingContext.explain(from.chain(clauses))
    }
    public func explain<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> String {
        try readingContext.explain(from.chain(clauses))
    }
    public func explain<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> String {
        try readingContext.explain(From<T>().chain(clauses))
    }

    /// Executes a fetch and returns the plan for each store that it reads; see ``Context/plans(_:)-(S)``.
    public func plans<S: FetchSource>(_ source: S) throws -> [QueryPlan] { try readingContext.plans(source) }
    public func plans<T>(_ from: From<T>, _ clauses: any FetchClause<T>...) throws -> [QueryPlan] {
        try readingContext.plans(from.chain(clauses))
    }
    public func plans<T>(_ from: From<T>, _ clauses: [any FetchClause<T>]) throws -> [QueryPlan] {
        try readingContext.plans(from.chain(clauses))
    }
    public func plans<T: Model>(_ type: T.Type, _ clauses: any FetchClause<T>...) throws -> [QueryPlan] {
        try readingContext.plans(From<T>().chain(clauses))
    }

    /// Iterates over all matching objects in order, in batches; see ``Context/fetchInBatches(_:size:_:)-(S,_,_)``.
    public func fetchInBatches<S: FetchSource>(_ source: S, size: Int = 500, _ body: ([S.Entity]) throws -> Void) throws {
        try readingContext.fetchInBatches(source, size: size, body)
    }
    public func fetchInBatches<T>(
        _ from: From<T>, _ clauses: any FetchClause<T>..., size: Int = 500, _ body: ([T]) throws -> Void
    ) throws {
        try readingContext.fetchInBatches(from.chain(clauses), size: size, body)
    }
}

extension FetchableSource {
    /// Returns the source's object with an id, or nil if it does not exist in the store.
    public func fetchExisting<T: Model>(_ id: ObjectID<T>) throws -> T? { try readingContext.fetchExisting(id) }
    /// Returns the source's object for an object of any context of the stack, or nil if it does not exist.
    public func fetchExisting<T: Model>(_ object: T) throws -> T? { try readingContext.fetchExisting(object) }
    /// Returns the source's objects with the given ids, in their order. Missing ones are omitted.
    public func fetchExisting<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [T] { try readingContext.fetchExisting(ids) }
    /// Returns the source's objects for objects of any context of the stack, in their order. Missing ones are omitted.
    public func fetchExisting<T: Model, S: Sequence<T>>(_ objects: S) throws -> [T] { try readingContext.fetchExisting(objects) }
}

extension FetchableSource {
    /// Returns the first value of a query; see ``Context/queryValue(_:_:_:)``.
    public func queryValue<S: FetchSource, V: QueryResult>(
        _ source: S, _ select: Select<V>, _ clauses: any QueryClause<S.Entity>...
    ) throws -> V? {
        try readingContext.queryValue(source, select, clauses)
    }
    public func queryValue<S: FetchSource, V: QueryResult>(
        _ source: S, _ select: Select<V>, _ clauses: [any QueryClause<S.Entity>]
    ) throws -> V? {
        try readingContext.queryValue(source, select, clauses)
    }
    /// Returns the value that a chain selects: `queryValue(From<Person>().select(Int.self, .maximum(\.age)))`.
    public func queryValue<T, V: QueryResult>(_ chain: QueryChain<T, V>) throws -> V? { try readingContext.firstValue(chain) }

    /// Returns values of each object or group; see ``Context/queryAttributes(_:_:_:)``.
    public func queryAttributes<S: FetchSource>(
        _ source: S, _ select: Select<QueryRow>, _ clauses: any QueryClause<S.Entity>...
    ) throws -> [QueryRow] {
        try readingContext.queryAttributes(source, select, clauses)
    }
    public func queryAttributes<S: FetchSource>(
        _ source: S, _ select: Select<QueryRow>, _ clauses: [any QueryClause<S.Entity>]
    ) throws -> [QueryRow] {
        try readingContext.queryAttributes(source, select, clauses)
    }
    /// Returns the values that a chain selects: `queryAttributes(From<Person>().select("age", .count(as: "people")).groupBy("age"))`.
    public func queryAttributes<T>(_ chain: QueryChain<T, QueryRow>) throws -> [QueryRow] { try readingContext.dictionaries(chain) }

    /// Returns the values of a selection in all rows, without null values.
    ///
    ///     let ages: [Int] = try context.queryValues(From<Person>(), Select(\.age).distinct())
    ///
    /// - Throws: `invalidValue` for a value that does not fit the type.
    public func queryValues<S: FetchSource, V>(_ source: S, _ select: Select<V>, _ clauses: any QueryClause<S.Entity>...) throws -> [V] {
        try readingContext.values(source, select, clauses)
    }

    /// Returns an aggregate value of all matching objects; see ``Context/queryValue(_:_:)``.
    public func queryValue<S: FetchSource, Result>(_ source: S, _ aggregate: AggregateOf<S.Entity, Result>) throws -> Result {
        try readingContext.queryValue(source, aggregate)
    }

    /// Returns aggregate values of groups of objects; see `Context.queryGroups(_:by:_:)`.
    public func queryGroups<S: FetchSource, Key, each Result>(
        _ source: S, by path: KeyPath<S.Entity, Key>, _ aggregate: repeat AggregateOf<S.Entity, each Result>
    ) throws -> [QueryGroup<Key, (repeat each Result)>] {
        try readingContext.queryGroups(source, by: path, repeat each aggregate)
    }
}
