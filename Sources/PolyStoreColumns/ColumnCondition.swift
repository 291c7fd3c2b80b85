import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// A condition on columns, which a closure returns: `.where { $0.age > 30 && $0.name == "Jane" }`.
///
/// `&&`, `||` and `!` combine conditions.
public struct ColumnCondition: Sendable, Hashable {
    fileprivate enum Form: Sendable, Hashable {
        /// A condition on stored fields of the fetched object, which needs no storage of its own.
        case fields(QueryPredicate)
        /// A condition by names.
        case names(Condition)
    }

    fileprivate let form: Form
    private let failure: ClauseFailure?
    /// The class of the fetched object on which the condition is; nil if it uses none of its columns.
    let root: ObjectIdentifier?
    /// A lower bound of the nesting depth. Conditions that the same operator joins are one level.
    let levels: Int

    private init(_ form: Form, root: ObjectIdentifier?, levels: Int, failure: ClauseFailure? = nil) {
        // A condition that is nested too deeply is dropped immediately, because even its release would recurse.
        let isTooDeep = levels > FetchRequest.maximumDepth
        self.form = isTooDeep ? .fields(.none) : form
        self.root = root
        self.levels = isTooDeep ? 1 : levels
        self.failure = failure ?? (isTooDeep ? .error(Self.tooDeep) : nil)
    }

    /// Creates a condition by names.
    init(_ condition: Condition, root: ObjectIdentifier?, levels: Int = 1, error: StoreError? = nil) {
        let form: Form = if case .resolved(let predicate) = condition { .fields(predicate) } else { .names(condition) }
        self.init(form, root: root, levels: levels, failure: ClauseFailure(error))
    }

    /// Creates a condition on stored fields of the fetched object, of one level.
    @inline(__always)
    init(_ predicate: QueryPredicate, root: ObjectIdentifier?) {
        (form, failure, self.root, levels) = (.fields(predicate), nil, root, 1)
    }

    /// The condition.
    var condition: Condition {
        switch form {
        case .fields(let predicate): .resolved(predicate)
        case .names(let condition): condition
        }
    }

    /// The error that makes the condition invalid; thrown by the fetch.
    var error: StoreError? { failure?.error }

    /// Creates a condition on values, with the failure of a value that has one.
    init(_ values: ColumnValue..., make: ([Operand]) -> Condition) {
        let levels = (values.map(\.levels).max() ?? 0) + 1
        do {
            let root = try ColumnValue.root(of: values.map(\.root))
            self.init(make(try values.map { try $0.operand }), root: root, levels: levels)
        } catch {
            self.init(.constant(false), root: nil, error: StoreError(describing: error))
        }
    }

    static var tooDeep: StoreError {
        StoreError(.invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.")
    }

    /// The error of a condition that uses the columns of another closure.
    static var foreign: StoreError {
        StoreError(
            .invalidPredicate,
            "A closure of columns uses columns of another fetch. Use those that are passed to it, and those of the closures around it.")
    }

    /// Returns whether the condition can be used in a fetch of a class.
    fileprivate func isValid<T: Model>(for type: T.Type) -> Bool { failure == nil && (root == nil || root == ObjectIdentifier(type)) }

    /// Returns the error of a condition or an order that uses columns of an object of a class in a fetch of another; nil without one.
    static func refusal<T: Model>(of root: ObjectIdentifier?, in type: T.Type) -> StoreError? {
        root == nil || root == ObjectIdentifier(type) ? nil : foreign
    }

    /// Returns the condition that two others are parts of; the common case of ``made(_:of:levels:)``, without its arrays.
    private static func made(_ form: Form, _ left: ColumnCondition, _ right: ColumnCondition, levels: Int) -> ColumnCondition {
        guard left.failure == nil, right.failure == nil, left.root == right.root else {
            return made(form, of: [left, right], levels: levels)
        }
        return ColumnCondition(form, root: left.root, levels: levels)
    }

    /// Returns the condition that some others are parts of.
    private static func made(_ form: Form, of parts: [ColumnCondition], levels: Int) -> ColumnCondition {
        var found = parts.lazy.compactMap(\.failure).first
        var root: ObjectIdentifier?
        do { root = try ColumnValue.root(of: parts.map(\.root)) } catch { found = found ?? .error(StoreError(describing: error)) }
        return ColumnCondition(form, root: root, levels: levels, failure: found)
    }

    /// Returns the disjunction of two conditions.
    static func either(_ left: ColumnCondition, _ right: ColumnCondition) -> ColumnCondition {
        let levels = max(left.isDisjunction ? left.levels : left.levels + 1, right.levels + 1)
        let form: Form
        if case .fields(let first) = left.form, case .fields(let second) = right.form {
            form = .fields(.or([first, second]))
        } else if case .names(.or(let parts)) = left.form {
            form = .names(.or(parts + [right.condition]))
        } else {
            form = .names(.or([left.condition, right.condition]))
        }
        return made(form, left, right, levels: levels)
    }

    /// Returns the negation of a condition.
    public static prefix func ! (condition: ColumnCondition) -> ColumnCondition {
        let negation: Form =
            switch condition.form {
            case .fields(let predicate): .fields(.not(predicate))
            case .names(let condition): .names(.not(condition))
            }
        return made(negation, of: [condition], levels: condition.levels + 1)
    }

    private var isDisjunction: Bool {
        switch form {
        case .fields(let predicate): if case .or = predicate.node { true } else { false }
        case .names(let condition): if case .or = condition { true } else { false }
        }
    }

    /// Returns the conjunction of two conditions; the common case of ``joined(_:)``, without its arrays.
    static func both(_ left: ColumnCondition, _ right: ColumnCondition) -> ColumnCondition {
        guard case .fields(let first) = left.form, case .fields(let second) = right.form else {
            return joined([left, right])
        }
        func levels(_ part: ColumnCondition, _ predicate: QueryPredicate) -> Int {
            if case .and = predicate.node { part.levels } else { part.levels + 1 }
        }
        return made(.fields(.and([first, second])), left, right, levels: max(levels(left, first), levels(right, second)))
    }

    /// Returns the conjunction of conditions. Those that are conjunctions are joined as one level.
    @usableFromInline
    static func joined(_ conditions: [ColumnCondition]) -> ColumnCondition {
        if conditions.count == 1 { return conditions[0] }
        let isOnFields = conditions.allSatisfy { if case .fields = $0.form { true } else { false } }
        var (parts, resolved, levels) = ([Condition](), [QueryPredicate](), 1)
        for each in conditions {
            switch each.form {
            case .names(.and(let inner)):
                parts += inner
                levels = max(levels, each.levels)
            case .fields(let predicate):
                let inner: [QueryPredicate]? = if case .and(let inner) = predicate.node { inner } else { nil }
                resolved += inner ?? [predicate]
                levels = max(levels, inner == nil ? each.levels + 1 : each.levels)
                if !isOnFields { parts.append(.resolved(predicate)) }
            case .names(let condition):
                parts.append(condition)
                levels = max(levels, each.levels + 1)
            }
        }
        return made(isOnFields ? .fields(.and(resolved)) : .names(.and(parts)), of: conditions, levels: levels)
    }
}

/// An operand of `&&` and `||` in a closure of columns: a condition, or a column of a Boolean property.
public protocol ColumnTest {
    /// The condition.
    var _$condition: ColumnCondition { get }
}

extension ColumnCondition: ColumnTest {
    public var _$condition: ColumnCondition { self }
}

extension Column: ColumnTest where V == Bool {
    public var _$condition: ColumnCondition { ColumnCondition(_$value, .equal, true.attributeValue, .bool) }
}

/// Returns the conjunction of two conditions.
@_disfavoredOverload
public func && (left: ColumnCondition, right: ColumnCondition) -> ColumnCondition { .both(left, right) }

/// Returns the disjunction of two conditions.
@_disfavoredOverload
public func || (left: ColumnCondition, right: ColumnCondition) -> ColumnCondition { .either(left, right) }

// With Boolean properties. Conditions have the overloads above, because the type checker needs fewer scopes for one that is not generic.

@_disfavoredOverload
public func && <L: ColumnTest, R: ColumnTest>(left: L, right: R) -> ColumnCondition { left._$condition && right._$condition }

@_disfavoredOverload
public func || <L: ColumnTest, R: ColumnTest>(left: L, right: R) -> ColumnCondition { left._$condition || right._$condition }

/// Joins the lines of a closure of columns by "and". A line is a condition or a column of a Boolean property; an `if` that is not taken
/// and a `for` without elements select all objects.
@resultBuilder
public enum ConditionBuilder {
    /// Takes a condition as a line. The other functions are called for the statements of the closure.
    @inlinable
    public static func buildExpression(_ condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildExpression(_ column: Column<Bool>) -> ColumnCondition { column._$condition }
    @inlinable
    public static func buildBlock(_ first: ColumnCondition, _ others: ColumnCondition...) -> ColumnCondition {
        others.isEmpty ? first : ColumnCondition.joined([first] + others)
    }
    public static func buildOptional(_ condition: ColumnCondition?) -> ColumnCondition {
        condition ?? ColumnCondition(QueryPredicate.all, root: nil)
    }
    public static func buildEither(first condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildEither(second condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildArray(_ conditions: [ColumnCondition]) -> ColumnCondition {
        conditions.isEmpty ? ColumnCondition(QueryPredicate.all, root: nil) : ColumnCondition.joined(conditions)
    }
}

/// Returns the negation of a Boolean property: `.where { !$0.isActive }`.
public prefix func ! (column: Column<Bool>) -> ColumnCondition { !column._$condition }

extension Where {
    /// Creates a condition on columns: `Where<Person> { $0.age > 30 }`. Several lines are joined by "and".
    public init(@ConditionBuilder columns condition: (Columns<T>) -> ColumnCondition) {
        let before = VariableNames.count
        let condition = condition(Columns())
        // Its fields are those of the fetched object, so it has no variables.
        if case .fields(let predicate) = condition.form, condition.isValid(for: T.self) {
            self.init(resolved: predicate)
        } else {
            self.init(condition.numbered(before))
        }
    }

    /// Creates a condition from one on columns.
    init(_ condition: ColumnCondition) {
        guard condition.isValid(for: T.self) else {
            self.init { throw condition.error ?? ColumnCondition.foreign }
            return
        }
        switch condition.form {
        case .fields(let predicate): self.init(resolved: predicate)
        case .names(let condition): self.init(condition)
        }
    }
}

extension ClauseChain {
    /// Adds a condition on columns. Several lines are joined by "and", and so are several conditions.
    ///
    ///     From<Person>().where { $0.age > 30 && $0.department.title == "Research" }
    public func `where`(@ConditionBuilder columns condition: (Columns<Entity>) -> ColumnCondition) -> Chained {
        `where`(Where(columns: condition))
    }
}
