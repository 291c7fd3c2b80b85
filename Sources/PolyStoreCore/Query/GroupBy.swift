import PolyStoreBackend

/// What the objects of one group have in common: a query then answers once for each group.
///
///     GroupBy("age")
///     GroupBy(\.department?.title, \.age)
///     GroupBy(%"name" | %"location")
///
/// Objects without a value are a group of their own. A name may be an alias of `Select`, a path over relationships to one, or an expression.
public struct GroupBy<T: Model>: Sendable, QueryClause {
    let keys: [QueryName]

    public init(_ names: String...) { keys = names.map { .text($0) } }
    public init(_ names: [String]) { keys = names.map { .text($0) } }
    public init(_ keys: QueryKey...) { self.init(keys) }
    public init(_ keys: [QueryKey]) { self.keys = keys.map { .text($0.name) } }

    public init<A>(_ first: KeyPath<T, A>) { keys = [.path(first)] }
    public init<A, B>(_ first: KeyPath<T, A>, _ second: KeyPath<T, B>) { keys = [.path(first), .path(second)] }
    public init<A, B, C>(_ first: KeyPath<T, A>, _ second: KeyPath<T, B>, _ third: KeyPath<T, C>) {
        keys = [.path(first), .path(second), .path(third)]
    }

    public func add(to query: inout ValueQuery<T>) { query.groupBy += keys }
}

/// Which groups are wanted: a condition on their values, by the names in `Select` and `GroupBy` or by functions that need not be selected.
///
///     Having("count(age) > 1 AND average(age) < %d", 40)
///     Having(%"people" > 1)
public struct Having<T: Model>: Sendable, QueryClause {
    let condition: Where<T>

    public init(_ format: String, _ arguments: (any QueryArgument)?...) { condition = Where(format: format, arguments: arguments) }
    /// A condition by names; one by key paths is of objects and refused by the query.
    public init(_ condition: Where<T>) { self.condition = condition }

    /// Several must all hold.
    public func add(to query: inout ValueQuery<T>) { query.having = query.having.map { $0 && condition } ?? condition }
}

/// A query of values: what its clauses say together.
public struct ValueQuery<T: Model>: Sendable {
    var chain: FetchChain<T>
    var groupBy: [QueryName] = []
    var having: Where<T>?

    init(_ chain: FetchChain<T>) { self.chain = chain }
}

extension QueryKey {
    /// One key and another, for ``GroupBy``.
    public static func | (left: QueryKey, right: QueryKey) -> [QueryKey] { [left, right] }
    public static func | (left: [QueryKey], right: QueryKey) -> [QueryKey] { left + [right] }

    var name: String { path.keys.joined(separator: ".") }
}
