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

    private let form: Form
    /// Why it cannot be used; thrown by the fetch.
    let error: StoreError?
    /// How deeply it is nested, at least. Conditions joined by one operator are one level.
    private let levels: Int

    private init(_ form: Form, levels: Int = 1, error: StoreError? = nil) {
        // What is nested too deeply is dropped at once: nothing descends into it, not even to release it.
        let isTooDeep = levels > FetchRequest.maximumDepth
        self.form = isTooDeep ? .plain(.none) : form
        self.levels = isTooDeep ? 1 : levels
        self.error =
            isTooDeep
            ? error
                ?? StoreError(
                    .invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.",
                    entity: T._$entityName)
            : error
    }

    init(_ predicate: QueryPredicate, error: StoreError? = nil) { self.init(.plain(predicate), error: error) }

    /// A condition on what a key path leads to.
    init(_ path: PartialKeyPath<T>, _ make: @escaping @Sendable (QueryExpression) -> QueryPredicate) {
        if let field = T._$properties.knownField(path) {
            self.init(make(.field(field)))
        } else {
            nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
            self.init(.path { context, entry in make(try context.expression(path, entry)) })
        }
    }

    /// A condition that needs a stack's models.
    /// - Parameter levels: how deeply nested it is.
    init(levels: Int = 1, error: StoreError? = nil, _ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate) {
        self.init(.path(make), levels: levels, error: error)
    }

    /// From any dialect.
    public init(_ condition: Condition) { self.init(.open(condition)) }

    /// What a closure makes; what it throws is thrown by the fetch.
    init(catching make: () throws -> Condition) {
        do { self.init(try make()) } catch { self.init(.none, error: StoreError(describing: error)) }
    }

    public init(_ condition: Where<T>) { self = condition }

    /// All objects, or none.
    @_disfavoredOverload
    public init(_ value: Bool) { self.init(.constant(value)) }

    /// A condition of one level more, on objects that a relationship leads to.
    func nested<D: Model>(
        in type: D.Type, _ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate
    ) -> Where<D> {
        Where<D>(levels: levels + 1, error: error, make)
    }

    /// By names, for what is not an object.
    func condition() throws -> Condition {
        if let error { throw error }
        return try form.condition()
    }

    /// In the form that a store knows.
    func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
        if let error { throw error }
        return try form.predicate(context, entry)
    }

    public static func && (left: Where<T>, right: Where<T>) -> Where<T> { joined(.and, left, right) }
    public static func || (left: Where<T>, right: Where<T>) -> Where<T> { joined(.or, left, right) }

    private static func joined(_ kind: Junction.Kind, _ left: Where<T>, _ right: Where<T>) -> Where<T> {
        func levels(_ part: Where<T>) -> Int {
            if case .joined(let junction) = part.form, junction.kind == kind { part.levels } else { part.levels + 1 }
        }
        let form: Form
        if case .plain(let first) = left.form, case .plain(let second) = right.form, first.isShort, second.isShort {
            form = .plain(kind == .and ? .and([first, second]) : .or([first, second]))
        } else {
            form = .joined(Junction(kind, left.form, right.form))
        }
        return Where(form, levels: max(levels(left), levels(right)), error: left.error ?? right.error)
    }

    public static prefix func ! (condition: Where<T>) -> Where<T> {
        // NOT NOT c is c, also where c is unknown.
        switch condition.form {
        case .not(let form): return Where(form, levels: max(condition.levels - 1, 1), error: condition.error)
        case .plain(let predicate):
            if case .not(let inner) = predicate.node {
                return Where(.plain(inner), levels: max(condition.levels - 1, 1), error: condition.error)
            }
            return Where(.plain(.not(predicate)), levels: condition.levels + 1, error: condition.error)
        default: return Where(.not(condition.form), levels: condition.levels + 1, error: condition.error)
        }
    }

    public func apply(to chain: inout FetchChain<T>) { chain = chain.where(self) }
}

extension Where {
    private indirect enum Form: Sendable {
        /// Nothing but fields of the model, whose places are known.
        case plain(QueryPredicate)
        /// Names that only a store's schema can look up.
        case open(Condition)
        /// A key path over relationships, which only a stack's models can follow.
        case path(@Sendable (Context, StoreEntity) throws -> QueryPredicate)
        case joined(Junction)
        case not(Form)

        func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
            switch self {
            case .plain(let predicate): return predicate
            case .open(let condition):
                return try condition.resolved(for: entry.entity, in: entry.store.schema, store: entry.store.storeID)
            case .path(let make): return try make(context, entry)
            case .joined(let junction):
                let parts = try junction.parts.map { try $0.predicate(context, entry) }
                return junction.kind == .and ? .and(parts) : .or(parts)
            case .not(let form): return .not(try form.predicate(context, entry))
            }
        }

        func condition() throws -> Condition {
            switch self {
            case .open(let condition): return condition
            case .joined(let junction):
                let parts = try junction.parts.map { try $0.condition() }
                return junction.kind == .and ? .and(parts) : .or(parts)
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

    /// Two conditions joined by an operator. Any number may be joined one after another: joining takes constant time, and neither reading the parts nor releasing
    /// them recurses along the chain.
    private final class Junction: @unchecked Sendable {  // changed by deinit alone
        enum Kind { case and, or }

        let kind: Kind
        private var left: Form
        private var right: Form

        init(_ kind: Kind, _ left: Form, _ right: Form) {
            self.kind = kind
            self.left = left
            self.right = right
        }

        /// The conditions that the same operator joins, in order.
        var parts: [Form] {
            var found: [Form] = []
            var open: [Form] = [right, left]
            while let form = open.popLast() {
                if case .joined(let junction) = form, junction.kind == kind {
                    open.append(junction.right)
                    open.append(junction.left)
                } else {
                    found.append(form)
                }
            }
            return found
        }

        deinit {
            var open: [Junction] = []
            func take(_ form: inout Form) {
                guard case .joined(let junction) = form else { return }
                form = .plain(.none)
                open.append(junction)
            }
            take(&left)
            take(&right)
            while var junction = open.popLast() {
                // What others hold stays as it is.
                guard isKnownUniquelyReferenced(&junction) else { continue }
                take(&junction.left)
                take(&junction.right)
            }
        }
    }
}

extension QueryPredicate {
    /// Whether joining it with another condition at once costs no more than joining them later.
    fileprivate var isShort: Bool {
        switch node {
        case .and(let parts), .or(let parts): parts.count <= 8
        default: true
        }
    }
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
            self.init { make(try $0.expression(left, $1), try $0.expression(right, $1)) }
        }
    }
}
