import PolyStoreBackend
import PolyStoreConditions

/// The keys that define the groups of a query. The query returns one row for each group.
///
///     GroupBy("age")
///     GroupBy(\.department?.title, \.age)
///     GroupBy(%"name" | %"location")
///
/// Objects with a null value form a group. A name may be an alias of `Select`, a path of to-one relationships, or an expression.
public struct GroupBy<T: Model>: Sendable, Hashable, QueryClause {
    /// The keys; or the error that makes the clause invalid, which the query throws.
    let keys: Result<[QueryName], StoreError>

    private init(_ keys: [QueryName]) { self.init(keys: .success(keys)) }

    private init(keys: Result<[QueryName], StoreError>) { self.keys = keys }

    /// Creates a clause from names, paths or expressions.
    public init(_ names: String...) { self.init(names) }
    public init(_ names: [String]) { self.init(names.map { QueryName.text($0) }) }
    public init(_ keys: QueryKey...) { self.init(keys) }
    public init(_ keys: [QueryKey]) { self.init(keys.map { QueryName.text($0.name) }) }

    /// Creates a clause from key paths.
    public init(_ first: PartialKeyPath<T>, _ others: PartialKeyPath<T>...) { self.init([first] + others) }
    public init(_ paths: [PartialKeyPath<T>]) { self.init(paths.map { QueryName.path($0) }) }

    /// Creates a clause from values by names. The query throws the errors of the closure.
    package init(catching operands: () throws -> [Operand]) {
        do { self.init(try operands().map { QueryName.operand($0) }) } catch { self.init(keys: .failure(StoreError(describing: error))) }
    }

    /// Adds the keys to a query.
    public func add(to query: inout ValueQuery<T>) {
        switch keys {
        case .success(let keys): query.groupBy += keys
        case .failure(let error): query.error = query.error ?? error
        }
    }
}

/// A condition on groups. It refers to the names in `Select` and `GroupBy`, or to aggregates that need not be selected.
///
///     Having("count(age) > 1 AND average(age) < %d", 40)
///     Having(%"people" > 1)
public struct Having<T: Model>: Sendable, Hashable, QueryClause {
    private enum Form: Sendable, Hashable {
        case named(Where<T>)
        /// A condition by the stored names of properties.
        case columns(Condition)
        case failure(StoreError)
    }

    private let form: Form

    /// Creates a condition in the syntax of format strings.
    public init(_ format: String, _ arguments: (any QueryArgument)?...) { form = .named(Where(format: format, arguments: arguments)) }
    /// Creates a condition by names. The query throws for a condition by key paths, because those refer to objects.
    public init(_ condition: Where<T>) { form = .named(condition) }

    /// Creates a condition by the stored names of properties. The query throws the errors of the closure.
    package init(catching make: () throws -> Condition) {
        do { form = .columns(try make()) } catch { form = .failure(StoreError(describing: error)) }
    }

    /// Adds the condition to a query. Multiple conditions are combined with AND.
    public func add(to query: inout ValueQuery<T>) {
        switch form {
        case .named(let condition): query.having = query.having.map { $0 && condition } ?? condition
        case .columns(let condition): query.havingColumns = query.havingColumns.map { .and([$0, condition]) } ?? condition
        case .failure(let error): query.error = query.error ?? error
        }
    }
}

extension QueryKey {
    /// Combines keys for ``GroupBy``. The form of CoreDataMonk; the same as a comma.
    public static func | (left: QueryKey, right: QueryKey) -> [QueryKey] { [left, right] }
    public static func | (left: [QueryKey], right: QueryKey) -> [QueryKey] { left + [right] }

    var name: String { path.keys.joined(separator: ".") }
}
