import PolyStoreBackend

/// A condition on the objects of a model.
///
///     Where(\.age > 30 && \.name == "Jane")
///     Where("age > %d AND name BEGINSWITH[c] %@", 30, "ja")
///     Where(["age": 30...40, "name": ["Jane", "John"]])
///     Where<Person>(true)
///
/// Every dialect means the same; see `docs/query-language.md`. `&&`, `||` and `!` combine conditions of any. Comparing with an empty value is
/// never true, except `== nil` and `!= nil`, which ask for just that; see `docs/semantics.md`.
public struct Where<T: Model>: Sendable, FetchClause {
    public typealias Entity = T

    private indirect enum Form: Sendable {
        /// Nothing but fields of the model, whose places are known.
        case plain(QueryPredicate)
        /// Names that only a store's schema can look up.
        case open(Condition)
        /// A key path over relationships, which only a stack's models can follow.
        case path(@Sendable (Context, StoreEntity) throws -> QueryPredicate)
        case and(Form, Form)
        case or(Form, Form)
        case not(Form)

        func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
            switch self {
            case .plain(let predicate): predicate
            case .open(let condition): try condition.resolved(for: entry.entity, in: entry.store.schema)
            case .path(let make): try make(context, entry)
            case .and(let left, let right): .and([try left.predicate(context, entry), try right.predicate(context, entry)])
            case .or(let left, let right): .or([try left.predicate(context, entry), try right.predicate(context, entry)])
            case .not(let form): .not(try form.predicate(context, entry))
            }
        }

        func condition() throws -> Condition {
            switch self {
            case .open(let condition): return condition
            case .and(let left, let right): return .and([try left.condition(), try right.condition()])
            case .or(let left, let right): return .or([try left.condition(), try right.condition()])
            case .not(let form): return .not(try form.condition())
            case .plain(.all): return .constant(true)
            case .plain(.none): return .constant(false)
            case .plain, .path:
                throw StoreError(
                    .invalidPredicate,
                    "A condition on groups is about their values, by names: Having(\"count(age) > 1\"), Having(%\"age\" > 30); key paths are of objects.",
                    entity: T._$entityName)
            }
        }
    }

    private let form: Form
    /// Why it cannot be used; thrown by the fetch.
    let error: StoreError?

    private init(_ form: Form, error: StoreError?) {
        self.form = form
        self.error = error
    }

    init(_ predicate: QueryPredicate, error: StoreError? = nil) { self.init(.plain(predicate), error: error) }

    /// A condition on what a key path leads to.
    init(_ path: PartialKeyPath<T>, _ make: @escaping @Sendable (QueryExpression) -> QueryPredicate) {
        if let field = T._$properties.knownField(path) {
            self.init(make(.field(field)))
        } else {
            nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
            self.init(.path { context, entry in make(try context.expression(path, entry)) }, error: nil)
        }
    }

    /// A condition that takes a stack's models to be known.
    init(_ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate) { self.init(.path(make), error: nil) }

    /// From any dialect.
    public init(_ condition: Condition) { self.init(.open(condition), error: nil) }

    /// What a closure makes; what it throws is thrown by the fetch.
    init(catching make: () throws -> Condition) {
        do { self.init(try make()) } catch { self.init(.none, error: StoreError(describing: error)) }
    }

    public init(_ condition: Where<T>) { self = condition }

    /// All objects, or none.
    public init(_ value: Bool) { self.init(.constant(value)) }

    /// By names, for what is no object.
    func condition() throws -> Condition {
        if let error { throw error }
        return try form.condition()
    }

    /// In the form that a store knows.
    func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
        if let error { throw error }
        return try form.predicate(context, entry)
    }

    public static func && (left: Where<T>, right: Where<T>) -> Where<T> {
        let error = left.error ?? right.error
        guard case .plain(let first) = left.form, case .plain(let second) = right.form else {
            return Where(.and(left.form, right.form), error: error)
        }
        return Where(.and([first, second]), error: error)
    }

    public static func || (left: Where<T>, right: Where<T>) -> Where<T> {
        let error = left.error ?? right.error
        guard case .plain(let first) = left.form, case .plain(let second) = right.form else {
            return Where(.or(left.form, right.form), error: error)
        }
        return Where(.or([first, second]), error: error)
    }

    public static prefix func ! (condition: Where<T>) -> Where<T> {
        if case .plain(let predicate) = condition.form { return Where(.not(predicate), error: condition.error) }
        return Where(.not(condition.form), error: condition.error)
    }

    public func apply(to chain: inout FetchChain<T>) { chain = chain.where(self) }
}

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalDisjunctionPrecedence

extension Where {
    /// Both conditions, or the one there is.
    public static func &&? (left: Where<T>, right: Where<T>?) -> Where<T> { right.map { left && $0 } ?? left }
    public static func &&? (left: Where<T>?, right: Where<T>) -> Where<T> { left.map { $0 && right } ?? right }
    /// Either condition, or the one there is.
    public static func ||? (left: Where<T>, right: Where<T>?) -> Where<T> { right.map { left || $0 } ?? left }
    public static func ||? (left: Where<T>?, right: Where<T>) -> Where<T> { left.map { $0 || right } ?? right }
}

extension StoreError {
    /// The error itself, or what a foreign one says.
    init(describing error: any Error) { self = error as? StoreError ?? StoreError(.invalidPredicate, "\(error)") }
}

extension Where {
    /// A condition on what two key paths lead to.
    init(
        _ left: PartialKeyPath<T>, _ right: PartialKeyPath<T>,
        _ make: @escaping @Sendable (QueryExpression, QueryExpression) -> QueryPredicate
    ) {
        if let first = T._$properties.knownField(left), let second = T._$properties.knownField(right) {
            self.init(make(.field(first), .field(second)))
        } else {
            nonisolated(unsafe) let (left, right) = (left, right)  // key paths of stored properties hold no state
            self.init(.path { make(try $0.expression(left, $1), try $0.expression(right, $1)) }, error: nil)
        }
    }
}
