import PolyStoreBackend
import PolyStoreConditions

/// A condition on the objects of a model.
///
///     Where(\.age > 30 && \.name == "Jane")
///     Where("age > %d AND name BEGINSWITH[c] %@", 30, "ja")
///     Where(["age": 30...40, "name": ["Jane", "John"]])
///     Where<Person>(true)
///
/// Two conditions are equal if they are written alike in the same dialect.
///
/// All dialects have the same semantics; see `docs/query-language.md`. `&&`, `||` and `!` combine conditions of any dialect. A comparison with null is never
/// true, except `== nil` and `!= nil`, which test for null; see `docs/semantics.md`.
public struct Where<T: Model>: Sendable, Hashable, FetchClause {
    /// The class of the objects that the condition selects.
    public typealias Entity = T

    private let form: Form
    private let failure: ClauseFailure?
    /// The error that makes the condition invalid; thrown by the fetch.
    var error: StoreError? { failure?.error }
    /// A lower bound of the nesting depth. Conditions joined by the same operator are one level.
    private let levels: Int

    private init(_ form: Form, levels: Int = 1, failure: ClauseFailure? = nil) {
        // A condition that is nested too deeply is dropped immediately, because even its release would recurse.
        let isTooDeep = levels > FetchRequest.maximumDepth
        self.form = isTooDeep ? .plain(.none) : form
        self.levels = isTooDeep ? 1 : levels
        self.failure = failure ?? (isTooDeep ? .error(Self.tooDeep) : nil)
    }

    private static var tooDeep: StoreError {
        StoreError(
            .invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.",
            entity: T._$entityName)
    }

    init(_ predicate: QueryPredicate, error: StoreError? = nil) { self.init(.plain(predicate), failure: ClauseFailure(error)) }

    /// Creates a condition on the value of a key path.
    init(_ path: PartialKeyPath<T>, _ make: @escaping @Sendable (QueryExpression) -> QueryPredicate) {
        if let field = T._$properties.knownField(path) {
            self.init(make(.field(field)))
        } else {
            nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
            self.init(.path(Deferred([path, make(Self.placeholder)]) { context, entry in make(try context.expression(path, entry)) }))
        }
    }

    /// A placeholder for the value of the key path, used to compare two conditions.
    private static var placeholder: QueryExpression { .constant(.null, .int64) }

    /// Creates a condition that depends on the models of a stack.
    /// - Parameters:
    ///   - identity: The parts of the condition: key paths, constants, other conditions. Conditions with equal parts are equal.
    ///   - levels: the nesting depth.
    init(
        of identity: [AnyHashable], levels: Int = 1, error: StoreError? = nil,
        _ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate
    ) {
        self.init(.path(Deferred(identity, make)), levels: levels, failure: ClauseFailure(error))
    }

    /// Creates a condition from any dialect.
    package init(_ condition: Condition) { self.init(.open(condition)) }

    /// Creates a condition on fields of the model whose indexes are known.
    package init(resolved predicate: QueryPredicate) { (form, levels, failure) = (.plain(predicate), 1, nil) }

    /// Creates a condition with a closure. The fetch throws the errors of the closure.
    package init(catching make: () throws -> Condition) {
        do { self.init(try make()) } catch { self.init(.none, error: StoreError(describing: error)) }
    }

    /// Creates a copy of a condition. Allows a condition by key paths to be written as `Where(…)`.
    public init(_ condition: Where<T>) { self = condition }

    /// Creates a condition from one on a superclass: `Where<Dog>(\Animal.species == "Dog")`. The fetch throws if the class is not a superclass.
    @_disfavoredOverload
    public init<Super: Model>(_ condition: Where<Super>) {
        guard T.self is Super.Type else {
            let message = "A condition on \(Super._$entityName) cannot select objects of \(T._$entityName), which is not a subclass of it."
            self.init(.none, error: StoreError(.invalidPredicate, message, entity: T._$entityName))
            return
        }
        self = condition.nested(in: T.self, of: [condition], levels: 0) { try condition.predicate($0, $1) }
    }

    /// Creates a condition on the members of the model: `Where<Person> { $0.age > 30 && $0.name == "Jane" }`.
    ///
    /// The form of CoreStore and of `filter`; the same as `\.age > 30 && \.name == "Jane"`.
    @_disfavoredOverload
    public init(_ condition: (KeyPathMembers<T>) -> Where<T>) { self = condition(KeyPathMembers()) }

    /// Selects all objects. The form of CoreStore; the same as `Where(true)`.
    public init() { self.init(true) }

    /// Selects all objects or none.
    @_disfavoredOverload
    public init(_ value: Bool) { self.init(.constant(value)) }

    /// Returns the condition as a part of a condition on another class. By default it adds one level, for a condition on related objects.
    func nested<D: Model>(
        in type: D.Type, of identity: [AnyHashable], levels added: Int = 1,
        _ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate
    ) -> Where<D> {
        Where<D>(of: identity, levels: levels + added, error: error, make)
    }

    /// Returns the condition by names, for values that are not objects.
    func condition() throws -> Condition {
        if let error { throw error }
        return try form.condition()
    }

    /// Resolves the condition to the form that stores evaluate.
    func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
        if let error { throw error }
        return try form.predicate(context, entry)
    }

    /// Returns the conjunction of two conditions.
    public static func && (left: Where<T>, right: Where<T>) -> Where<T> { joined(.and, left, right) }
    /// Returns the disjunction of two conditions.
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
        return Where(form, levels: max(levels(left), levels(right)), failure: left.failure ?? right.failure)
    }

    /// Returns the negation of a condition.
    public static prefix func ! (condition: Where<T>) -> Where<T> {
        // NOT NOT c equals c, even if c is unknown.
        switch condition.form {
        case .not(let form): return Where(form, levels: max(condition.levels - 1, 1), failure: condition.failure)
        case .plain(let predicate):
            if case .not(let inner) = predicate.node {
                return Where(.plain(inner), levels: max(condition.levels - 1, 1), failure: condition.failure)
            }
            return Where(.plain(.not(predicate)), levels: condition.levels + 1, failure: condition.failure)
        default: return Where(.not(condition.form), levels: condition.levels + 1, failure: condition.failure)
        }
    }

    /// Adds the condition to a chain. Multiple conditions are combined with AND.
    public func apply(to chain: inout FetchChain<T>) { chain.add(self) }
}

extension Where {
    private indirect enum Form: Sendable, Hashable {
        /// A condition on fields of the model only, whose indexes are known.
        case plain(QueryPredicate)
        /// A condition with names that are resolved against the schema of a store.
        case open(Condition)
        /// A condition by key paths over relationships, which are resolved against the models of a stack.
        case path(Deferred)
        case joined(Junction)
        case not(Form)

        func predicate(_ context: Context, _ entry: StoreEntity) throws -> QueryPredicate {
            switch self {
            case .plain(let predicate): return predicate
            case .open(let condition):
                return try condition.resolved(for: entry.entity, in: entry.store.schema, store: entry.store.storeID) {
                    owner, field, value in
                    context.entry(entry.store.firstEntityIndex + Int32(owner.index)).unknownCase(value, of: field)
                }
            case .path(let deferred): return try deferred.make(context, entry)
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

    /// Two conditions joined by an operator. Chains of any length are supported: joining takes constant time, and neither reading the parts nor releasing
    /// them recurses along the chain.
    private final class Junction: @unchecked Sendable, Hashable {  // only deinit mutates it
        enum Kind { case and, or }

        let kind: Kind
        private var left: Form
        private var right: Form

        init(_ kind: Kind, _ left: Form, _ right: Form) {
            self.kind = kind
            self.left = left
            self.right = right
        }

        /// The conditions joined by the same operator, in order.
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

        static func == (left: Junction, right: Junction) -> Bool { left === right || left.kind == right.kind && left.parts == right.parts }

        func hash(into hasher: inout Hasher) {
            hasher.combine(kind)
            hasher.combine(parts)
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
                // A part that is still referenced remains unchanged.
                guard isKnownUniquelyReferenced(&junction) else { continue }
                take(&junction.left)
                take(&junction.right)
            }
        }
    }
}

/// A condition over relationships, made when the models of a stack are known.
private struct Deferred: @unchecked Sendable, Hashable {  // it consists of key paths and constants
    private let identity: [AnyHashable]
    let make: @Sendable (Context, StoreEntity) throws -> QueryPredicate

    init(_ identity: [AnyHashable], _ make: @escaping @Sendable (Context, StoreEntity) throws -> QueryPredicate) {
        self.identity = identity
        self.make = make
    }

    static func == (left: Deferred, right: Deferred) -> Bool { left.identity == right.identity }
    func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// The members of a model in a condition: `Where<Person> { $0.age > 30 }`.
@dynamicMemberLookup
public struct KeyPathMembers<T: Model> {
    /// Returns the key path itself.
    public subscript<V>(dynamicMember path: KeyPath<T, V>) -> KeyPath<T, V> { path }
}

extension QueryPredicate {
    /// Returns whether joining now costs no more than joining later.
    fileprivate var isShort: Bool {
        switch node {
        case .and(let parts), .or(let parts): parts.count <= 8
        default: true
        }
    }
}

/// Returns the conjunction of conditions on a class and one of its superclasses: `\Animal.species == "Dog" && \Dog.age > 3` is a condition on dogs.
@_disfavoredOverload
public func && <A: Model, B: Model, T: Model>(left: Where<A>, right: Where<B>) -> Where<T> { Where<T>(left) && Where<T>(right) }

/// Returns the disjunction of conditions on a class and one of its superclasses.
@_disfavoredOverload
public func || <A: Model, B: Model, T: Model>(left: Where<A>, right: Where<B>) -> Where<T> { Where<T>(left) || Where<T>(right) }

infix operator &&? : LogicalConjunctionPrecedence
infix operator ||? : LogicalDisjunctionPrecedence

extension Where {
    /// Returns the conjunction, or the single condition if the other is nil.
    public static func &&? (left: Where<T>, right: Where<T>?) -> Where<T> { right.map { left && $0 } ?? left }
    public static func &&? (left: Where<T>?, right: Where<T>) -> Where<T> { left.map { $0 && right } ?? right }
    /// Returns the disjunction, or the single condition if the other is nil.
    public static func ||? (left: Where<T>, right: Where<T>?) -> Where<T> { right.map { left || $0 } ?? left }
    public static func ||? (left: Where<T>?, right: Where<T>) -> Where<T> { left.map { $0 || right } ?? right }
}

extension StoreError {
    /// Returns a `StoreError` unchanged, or wraps the description of another error.
    package init(describing error: any Error) { self = error as? StoreError ?? StoreError(.invalidPredicate, "\(error)") }
}

extension Where {
    /// Creates a condition on the values of two key paths.
    init(
        _ left: PartialKeyPath<T>, _ right: PartialKeyPath<T>,
        _ make: @escaping @Sendable (QueryExpression, QueryExpression) -> QueryPredicate
    ) {
        if let first = T._$properties.knownField(left), let second = T._$properties.knownField(right) {
            self.init(make(.field(first), .field(second)))
        } else {
            nonisolated(unsafe) let (left, right) = (left, right)  // key paths of stored properties hold no state
            self.init(of: [left, right, make(Self.placeholder, Self.placeholder)]) {
                make(try $0.expression(left, $1), try $0.expression(right, $1))
            }
        }
    }
}
