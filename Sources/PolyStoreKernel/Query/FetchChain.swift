public import Foundation
import PolyStoreBackend

/// A description of what to fetch: a ``From`` or a ``FetchChain``.
public protocol FetchSource<Entity>: ClauseChain {
    /// The description as a chain of clauses.
    var chain: FetchChain<Entity> { get }
}

/// A type to which the clauses of a fetch can be chained.
///
///     From<Person>().where(\.age > 30).orderBy(.ascending(\.name)).limit(20)
///
/// Chaining to a ``From`` returns a ``FetchChain``. A ``FetchChain``, a ``SectionedChain`` and a ``QueryChain`` keep their types.
public protocol ClauseChain<Entity>: Sendable {
    /// The class of the objects to fetch.
    associatedtype Entity: Model
    /// The type of the chain after a clause was added.
    associatedtype Chained: ClauseChain<Entity>

    /// Returns the chain with an additional clause.
    func chaining(_ change: (inout FetchChain<Entity>) -> Void) -> Chained
}

// The forms that are written less often are disfavored: the type checker needs not try a long condition again for each of them. See Tests/TypeChecking.

extension ClauseChain {
    /// Adds a condition. Multiple conditions are combined with AND.
    public func `where`(_ condition: Where<Entity>) -> Chained { chaining { $0.add(condition) } }
    /// Adds a condition in the syntax of format strings; see `Where.init(_:_:)`.
    @_disfavoredOverload
    public func `where`(_ format: String, _ arguments: (any QueryArgument)?...) -> Chained {
        `where`(Where(format: format, arguments: arguments))
    }
    /// Adds a condition in the syntax of format strings, with the label of `NSPredicate(format:)`.
    public func `where`(format: String, _ arguments: (any QueryArgument)?...) -> Chained {
        `where`(Where(format: format, arguments: arguments))
    }
    /// Adds a condition for each key of a dictionary; see `Where.init(_:)`.
    @_disfavoredOverload
    public func `where`(_ conditions: [String: (any QueryArgument)?]) -> Chained { `where`(Where(conditions)) }

    /// Appends sort keys.
    public func orderBy(_ keys: OrderKey<Entity>...) -> Chained { orderBy(OrderBy(keys)) }
    /// Appends the sort keys of an order.
    @_disfavoredOverload
    public func orderBy(_ order: OrderBy<Entity>) -> Chained { chaining { $0.add(order) } }

    /// Appends Foundation's descriptors as sort keys; see ``OrderBy/init(_:_:)``.
    @_disfavoredOverload
    public func orderBy(_ descriptor: SortDescriptor<Entity>, _ others: SortDescriptor<Entity>...) -> Chained {
        orderBy(OrderBy(([descriptor] + others).map { OrderKey($0) }))
    }

    /// Sets the maximum number of objects.
    public func limit(_ count: Int) -> Chained { chaining { $0.options.limit = count } }
    /// Sets the number of objects to skip.
    public func offset(_ count: Int) -> Chained { chaining { $0.options.offset = count } }
    /// Sets the time after which the fetch or query throws `timedOut`; see ``FetchOptions/timeLimit``.
    public func timeLimit(_ limit: Duration) -> Chained { chaining { $0.options.timeLimit = limit } }
    /// Changes the options of the fetch; see ``FetchOptions``.
    public func tweak(_ change: (inout FetchOptions) -> Void) -> Chained { chaining { change(&$0.options) } }
    /// Applies a ``Tweak`` to the options of the fetch. The form for a tweak that is made elsewhere.
    public func tweak(_ tweak: Tweak<Entity>) -> Chained { chaining { tweak.apply(to: &$0) } }
    /// Prefetches related objects by name or by path, `.prefetch("department.company")`; see ``FetchOptions/prefetch``.
    public func prefetch(_ paths: String...) -> Chained { chaining { $0.options.prefetch += paths } }
    /// Prefetches related objects: `.prefetch(\.department, \.friends)`.
    public func prefetch(_ paths: PartialKeyPath<Entity>...) -> Chained {
        chaining { $0.options.prefetch += paths.map { Entity._$properties.knownName($0) ?? "\($0)" } }
    }
    /// Applies clauses in order. Useful for a list of clauses made at run time.
    public func clauses(_ clauses: [any FetchClause<Entity>]) -> Chained {
        chaining { chain in for clause in clauses { clause.apply(to: &chain) } }
    }
}

/// A complete fetch: `From` and the clauses chained to it.
///
///     From<Person>().where(\.age > 30).orderBy(.ascending(\.name)).limit(20)
///
/// Two chains are equal if they have the same clauses in the same order.
public struct FetchChain<T: Model>: FetchSource, Hashable {
    package var from: From<T>
    var condition: Where<T>?
    var order: OrderBy<T>?
    /// The options of the fetch. The methods of a chain, such as ``ClauseChain/limit(_:)``, return a chain with changed options.
    public var options = FetchOptions()

    init(_ from: From<T>) { self.from = from }

    /// The chain itself.
    public var chain: FetchChain<T> { self }

    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> FetchChain<T> {
        var copy = self
        change(&copy)
        return copy
    }

    mutating func add(_ condition: Where<T>) { self.condition = self.condition.map { $0 && condition } ?? condition }
    mutating func add(_ order: OrderBy<T>) { self.order = self.order.map { $0 + order } ?? order }
}

extension From: FetchSource {
    /// A chain without clauses.
    public var chain: FetchChain<T> { FetchChain(self) }
    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> FetchChain<T> { chain.chaining(change) }
}

extension FetchSource {
    /// Returns the source with the clauses applied in order.
    package func chain(_ clauses: [any FetchClause<Entity>]) -> FetchChain<Entity> { chain.clauses(clauses) }
}

/// The options of a fetch.
public struct FetchOptions: Sendable, Hashable {
    /// The maximum number of objects; nil for no limit.
    public var limit: Int?
    /// The number of objects to skip.
    public var offset = 0
    /// A Boolean value that indicates whether a transaction includes its pending changes. The default is true for fetches and false for queries of values.
    public var includesPendingChanges: Bool {
        get { pending ?? true }
        set { pending = newValue }
    }
    /// A Boolean value that indicates whether a query of values removes duplicate rows. Fetched objects are always distinct.
    public var returnsDistinctResults = false

    /// The relationships to prefetch, as names or paths (`"department.company"`). Each takes one query, rather than one per object. The prefetched objects
    /// stay in memory as long as the context; in a view, until it moves to another snapshot.
    public var prefetch: [String] = []
    /// A Boolean value that indicates whether objects are fetched with their values. Otherwise they are faults, which read their values on first access.
    /// Objects of a class with sub-entities are always fetched with their values, because these determine the class of an object.
    public var includesPropertyValues = true
    /// A Boolean value that indicates whether objects of sub-entities are included.
    public var includesSubentities = true

    /// The time after which the fetch or query throws `timedOut`, from its call on; nil, the default, for no limit. The rest of the time limit of the transaction or read
    /// applies too.
    ///
    /// It includes the time of the bodies of ``Context/fetchInBatches(_:size:_:)-(S,_,_)``, which throws before the next batch; the requests of the bodies are not interrupted. Lists,
    /// monitors and sequences, which fetch again after commits, exports, and the properties of the fetched objects ignore it.
    public var timeLimit: Duration?

    private var pending: Bool?

    /// Creates the default options.
    public init() {}

    /// Checks the options.
    /// - Throws: `invalidPredicate` for a negative limit or offset.
    func validate(_ entity: String) throws {
        guard offset >= 0, limit.map({ $0 >= 0 }) ?? true else {
            throw StoreError(
                .invalidPredicate,
                "A limit of \(limit.map(String.init) ?? "none") with an offset of \(offset): neither may be negative.",
                entity: entity)
        }
    }

    /// The options with the defaults of a query of values.
    var ofQuery: FetchOptions {
        var copy = self
        copy.pending = pending ?? false
        return copy
    }
}

/// A clause that follows `From`: ``Where``, ``OrderBy`` or ``Tweak``.
public protocol FetchClause<Entity>: QueryClause {
    /// Adds the clause to a chain.
    func apply(to chain: inout FetchChain<Entity>)
}

/// A clause of a query of values: a clause of a fetch, ``GroupBy`` or ``Having``.
public protocol QueryClause<Entity> {
    /// The class of the objects to query.
    associatedtype Entity: Model
    /// Adds the clause to a query of values.
    func add(to query: inout ValueQuery<Entity>)
}

extension FetchClause {
    /// Adds the clause to the fetch that selects the objects of a query.
    public func add(to query: inout ValueQuery<Entity>) { apply(to: &query.chain) }
}

/// A clause that changes the options of a fetch.
///
///     Tweak { $0.limit = 20; $0.offset = 40 }
///
/// The form of CoreStore among the clauses of a fetch. In a chain, `.limit(20).offset(40)` is the same.
public struct Tweak<T: Model>: FetchClause {
    /// The class of the objects to fetch.
    public typealias Entity = T

    private let change: (inout FetchOptions) -> Void

    /// Creates a clause from a closure that changes the options.
    public init(_ change: @escaping (inout FetchOptions) -> Void) { self.change = change }

    /// Changes the options of a chain.
    public func apply(to chain: inout FetchChain<T>) { change(&chain.options) }
}
