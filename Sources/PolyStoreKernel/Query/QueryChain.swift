import PolyStoreBackend
import PolyStoreConditions

/// A complete query of values, made by chaining:
///
///     From<Person>().select(Double.self, .average(\.age)).where(\.city == "Kobe")
///     From<Person>().select(.attribute(\.age), .count(as: "people")).groupBy(\.age).having("people > 1")
///
/// `Result` is the type of the single value for `queryValue`, or ``QueryRow`` for `queryAttributes`.
public struct QueryChain<T: Model, Result>: ClauseChain, Hashable {
    var query: ValueQuery<T>
    let select: Select<Result>

    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> QueryChain { with { change(&$0.chain) } }

    /// Adds the keys that define the groups; see ``GroupBy``.
    public func groupBy(_ group: GroupBy<T>) -> QueryChain { with { group.add(to: &$0) } }
    public func groupBy(_ first: PartialKeyPath<T>, _ others: PartialKeyPath<T>...) -> QueryChain { groupBy(GroupBy([first] + others)) }
    public func groupBy(_ names: String...) -> QueryChain { groupBy(GroupBy(names)) }

    /// Adds a condition on groups. Multiple conditions are combined with AND. See ``Having``.
    public func having(_ condition: Having<T>) -> QueryChain { with { condition.add(to: &$0) } }
    public func having(_ format: String, _ arguments: (any QueryArgument)?...) -> QueryChain {
        having(Having(Where(format: format, arguments: arguments)))
    }

    private func with(_ change: (inout ValueQuery<T>) -> Void) -> QueryChain {
        var copy = self
        change(&copy.query)
        return copy
    }
}

extension FetchSource {
    /// Selects one value of a type: `.select(Int.self, .maximum(\.age))`.
    public func select<V: QueryResult>(_ type: V.Type, _ term: SelectTerm) -> QueryChain<Entity, V> { select(Select<V>(term)) }
    /// Selects the value of an attribute of the first object.
    public func select<V: QueryResult>(_ path: KeyPath<Entity, V>) -> QueryChain<Entity, V> { select(Select<V>(path)) }
    /// Selects the value of an optional attribute of the first object.
    public func select<V: QueryResult>(_ path: KeyPath<Entity, V?>) -> QueryChain<Entity, V> { select(Select<V>(path)) }
    /// Selects several values: `.select("age", .count(as: "people"))`.
    public func select(_ terms: SelectTerm...) -> QueryChain<Entity, QueryRow> { select(Select(terms)) }
    /// Selects the terms of a ``Select``.
    public func select<Result>(_ select: Select<Result>) -> QueryChain<Entity, Result> {
        var query = ValueQuery(chain)
        if select.isDistinct { query.chain.options.returnsDistinctResults = true }
        return QueryChain(query: query, select: select)
    }
}

/// A complete query, such as a query of columns: `stack.values(of: From<Person>().select { $0.age.average })`.
public protocol ReadableQuery<Result>: Sendable {
    /// The result.
    associatedtype Result
    /// Executes the query.
    func _$result(in context: Context) throws -> Result
}

/// The combined clauses of a query of values.
public struct ValueQuery<T: Model>: Sendable, Hashable {
    package var chain: FetchChain<T>
    var groupBy: [QueryName] = []
    var having: Where<T>?
    /// A condition on groups by the stored names of properties, which are never aliases.
    var havingColumns: Condition?
    /// The error of an invalid clause, which the query throws.
    var error: StoreError?

    package init(_ chain: FetchChain<T>) { self.chain = chain }
}
