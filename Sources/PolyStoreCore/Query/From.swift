import PolyStoreBackend

/// Which entity to read, and from which stores.
///
///     From<Person>()                    // every store that holds the entity
///     From<Person>("Cache")             // the stores of one configuration
///     From<Person>(nil)                 // those of the default configuration
///     From<Person>("Cache", nil)        // several
///
/// Each store is read once, however often its configuration is named. Configurations without the entity are ignored; if none has it, the fetch throws.
public struct From<T: Model>: Sendable {
    /// nil: all stores.
    let configurations: [String?]?

    public init() { configurations = nil }
    public init(_ type: T.Type) { configurations = nil }
    public init(_ configuration: String?, _ others: String?...) { configurations = [configuration] + others }
}

/// Which entity to create, and in which store.
///
///     Into<Person>()                    // the only store that holds the entity
///     Into<Person>("Cache")             // the store of a configuration
///     Into<Person>(nil)                 // that of the default configuration
public struct Into<T: Model>: Sendable {
    let configuration: String??

    public init() { configuration = .none }
    public init(_ type: T.Type) { configuration = .none }
    public init(_ configuration: String?) { self.configuration = .some(configuration) }
}

/// A whole fetch: what `From` and the other clauses say together. Made by chaining:
///
///     From<Person>().where(\.age > 30).orderBy(.ascending(\.name)).limit(20)
public struct FetchChain<T: Model>: Sendable {
    var from: From<T>
    var condition: Where<T>?
    var order: OrderBy<T>?
    public var options = FetchOptions()

    init(_ from: From<T>) { self.from = from }

    private func with(_ change: (inout FetchChain<T>) -> Void) -> FetchChain<T> {
        var copy = self
        change(&copy)
        return copy
    }

    /// Adds a condition; several must all hold.
    public func `where`(_ condition: Where<T>) -> FetchChain<T> {
        with { $0.condition = $0.condition.map { $0 && condition } ?? condition }
    }
    /// Adds sort keys after those already there.
    public func orderBy(_ keys: OrderKey<T>...) -> FetchChain<T> { with { $0.order = ($0.order ?? OrderBy([])) + OrderBy(keys) } }
    public func limit(_ count: Int) -> FetchChain<T> { with { $0.options.limit = count } }
    public func offset(_ count: Int) -> FetchChain<T> { with { $0.options.offset = count } }
    public func tweak(_ change: (inout FetchOptions) -> Void) -> FetchChain<T> { with { change(&$0.options) } }
}

/// What a `Tweak` can set.
public struct FetchOptions: Sendable, Hashable {
    /// At most so many; nil: all.
    public var limit: Int?
    /// So many are left out at the start.
    public var offset = 0
    /// In a transaction: whether its own uncommitted changes count. Unless told otherwise they do in fetches, and do not in queries of values.
    public var includesPendingChanges: Bool {
        get { pending ?? true }
        set { pending = newValue }
    }
    /// Queries of values: whether an answer that was given already is left out. Objects that are fetched are never the same.
    public var returnsDistinctResults = false

    /// Relationships whose objects are to be here too when the fetch returns, in one query each and not one for each object: names, or paths
    /// (`"department.company"`). They stay for as long as the context does, in the view until it moves to another version.
    public var prefetch: [String] = []
    /// Whether the objects come with their values. Without they are faults, which read them when they are asked.
    /// Of a class that has sub-entities they always come with them, as only the values say of which class an object is.
    public var includesPropertyValues = true
    /// Whether objects of the entities below the one that is asked for count too.
    public var includesSubentities = true

    private var pending: Bool?

    public init() {}

    /// - Throws: `invalidPredicate` for a negative limit or offset.
    func validate(_ entity: String) throws {
        guard offset >= 0, limit.map({ $0 >= 0 }) ?? true else {
            throw StoreError(
                .invalidPredicate,
                "A limit of \(limit.map(String.init) ?? "none") with an offset of \(offset): neither may be negative.",
                entity: entity)
        }
    }

    /// The same, as a query of values means it.
    var ofQuery: FetchOptions {
        var copy = self
        copy.pending = pending ?? false
        return copy
    }
}

/// Something that names what to fetch: a ``From`` or a ``FetchChain``.
public protocol FetchSource<Entity>: Sendable {
    associatedtype Entity: Model
    var chain: FetchChain<Entity> { get }
}

extension From: FetchSource {
    public var chain: FetchChain<T> { FetchChain(self) }
    public func `where`(_ condition: Where<T>) -> FetchChain<T> { chain.where(condition) }
    public func orderBy(_ keys: OrderKey<T>...) -> FetchChain<T> {
        var chain = chain
        chain.order = OrderBy(keys)
        return chain
    }
    public func limit(_ count: Int) -> FetchChain<T> { chain.limit(count) }
    public func offset(_ count: Int) -> FetchChain<T> { chain.offset(count) }
    public func tweak(_ change: (inout FetchOptions) -> Void) -> FetchChain<T> { chain.tweak(change) }
}

extension FetchChain: FetchSource {
    public var chain: FetchChain<T> { self }
}

/// A clause after `From`: ``Where``, ``OrderBy`` or ``Tweak``.
public protocol FetchClause<Entity>: QueryClause {
    func apply(to chain: inout FetchChain<Entity>)
}

/// A clause of a query of values: one of a fetch, ``GroupBy`` or ``Having``.
public protocol QueryClause<Entity> {
    associatedtype Entity: Model
    func add(to query: inout ValueQuery<Entity>)
}

extension FetchClause {
    public func add(to query: inout ValueQuery<Entity>) { apply(to: &query.chain) }
}

/// Adjusts a fetch.
///
///     Tweak { $0.limit = 20; $0.offset = 40 }
public struct Tweak<T: Model>: FetchClause {
    public typealias Entity = T

    private let change: (inout FetchOptions) -> Void

    public init(_ change: @escaping (inout FetchOptions) -> Void) { self.change = change }

    public func apply(to chain: inout FetchChain<T>) { change(&chain.options) }
}
