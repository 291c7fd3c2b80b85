import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// A condition on columns, which a closure returns: `.where { $0.age > 30 && $0.name == "Jane" }`.
///
/// `&&`, `||` and `!` combine conditions.
public struct ColumnCondition: Sendable, Hashable {
    let condition: Condition
    private let failure: Failure?
    /// The class of the fetched object on which the condition is; nil if it uses none of its columns.
    let root: ObjectIdentifier?
    /// A lower bound of the nesting depth. Conditions that the same operator joins are one level.
    let levels: Int

    init(_ condition: Condition, root: ObjectIdentifier?, levels: Int = 1, error: StoreError? = nil) {
        // A condition that is nested too deeply is dropped immediately, because even its release would recurse.
        let isTooDeep = levels > FetchRequest.maximumDepth
        self.condition = isTooDeep ? .constant(false) : condition
        self.root = root
        self.levels = isTooDeep ? 1 : levels
        failure = (error ?? (isTooDeep ? Self.tooDeep : nil)).map(Failure.error)
    }

    /// An error, in storage of its own: most conditions have none, and are copied often.
    private indirect enum Failure: Sendable, Hashable {
        case error(StoreError)
    }

    /// The error that makes the condition invalid; thrown by the fetch.
    var error: StoreError? { if case .error(let error)? = failure { error } else { nil } }

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

    /// Returns the error of a condition or an order that uses columns of an object of a class in a fetch of another; nil without one.
    static func refusal<T: Model>(of root: ObjectIdentifier?, in type: T.Type) -> StoreError? {
        root == nil || root == ObjectIdentifier(type) ? nil : foreign
    }

    /// Returns the condition that two others are parts of; the common case of ``made(_:of:levels:)``, without its arrays.
    private static func made(_ condition: Condition, _ left: ColumnCondition, _ right: ColumnCondition, levels: Int) -> ColumnCondition {
        guard left.failure == nil, right.failure == nil, left.root == right.root else {
            return made(condition, of: [left, right], levels: levels)
        }
        return ColumnCondition(condition, root: left.root, levels: levels)
    }

    /// Returns the condition that some others are parts of.
    private static func made(_ condition: Condition, of parts: [ColumnCondition], levels: Int) -> ColumnCondition {
        var found = parts.lazy.compactMap(\.error).first
        var root: ObjectIdentifier?
        do { root = try ColumnValue.root(of: parts.map(\.root)) } catch { found = found ?? StoreError(describing: error) }
        return ColumnCondition(condition, root: root, levels: levels, error: found)
    }

    /// Returns the disjunction of two conditions.
    static func either(_ left: ColumnCondition, _ right: ColumnCondition) -> ColumnCondition {
        let levels = max(left.isDisjunction ? left.levels : left.levels + 1, right.levels + 1)
        let condition: Condition
        if case .resolved(let first) = left.condition, case .resolved(let second) = right.condition {
            condition = .resolved(.or([first, second]))
        } else if case .or(let parts) = left.condition {
            condition = .or(parts + [right.condition])
        } else {
            condition = .or([left.condition, right.condition])
        }
        return made(condition, left, right, levels: levels)
    }

    /// Returns the negation of a condition.
    public static prefix func ! (condition: ColumnCondition) -> ColumnCondition {
        let negation: Condition =
            if case .resolved(let predicate) = condition.condition { .resolved(.not(predicate)) } else { .not(condition.condition) }
        return made(negation, of: [condition], levels: condition.levels + 1)
    }

    private var isDisjunction: Bool {
        switch condition {
        case .or: true
        case .resolved(let predicate): if case .or = predicate.node { true } else { false }
        default: false
        }
    }

    /// Returns the conjunction of two conditions; the common case of ``joined(_:)``, without its arrays.
    static func both(_ left: ColumnCondition, _ right: ColumnCondition) -> ColumnCondition {
        guard case .resolved(let first) = left.condition, case .resolved(let second) = right.condition else {
            return joined([left, right])
        }
        func levels(_ part: ColumnCondition, _ predicate: QueryPredicate) -> Int {
            if case .and = predicate.node { part.levels } else { part.levels + 1 }
        }
        return made(.resolved(.and([first, second])), left, right, levels: max(levels(left, first), levels(right, second)))
    }

    /// Returns the conjunction of conditions. Those that are conjunctions are joined as one level.
    static func joined(_ conditions: [ColumnCondition]) -> ColumnCondition {
        if conditions.count == 1 { return conditions[0] }
        var (parts, resolved, levels) = ([Condition](), [QueryPredicate](), 1)
        for each in conditions {
            switch each.condition {
            case .and(let inner):
                parts += inner
                levels = max(levels, each.levels)
            case .resolved(let predicate):
                let inner: [QueryPredicate]? = if case .and(let inner) = predicate.node { inner } else { nil }
                resolved += inner ?? [predicate]
                levels = max(levels, inner == nil ? each.levels + 1 : each.levels)
                parts.append(each.condition)
            default:
                parts.append(each.condition)
                levels = max(levels, each.levels + 1)
            }
        }
        let isResolved = conditions.allSatisfy { if case .resolved = $0.condition { true } else { false } }
        return made(isResolved ? .resolved(.and(resolved)) : .and(parts), of: conditions, levels: levels)
    }
}

/// What `&&` and `||` join in a closure of columns: a condition, or a column of a Boolean property.
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
    public static func buildExpression(_ condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildExpression(_ column: Column<Bool>) -> ColumnCondition { column._$condition }
    public static func buildBlock(_ first: ColumnCondition, _ others: ColumnCondition...) -> ColumnCondition {
        others.isEmpty ? first : ColumnCondition.joined([first] + others)
    }
    public static func buildOptional(_ condition: ColumnCondition?) -> ColumnCondition {
        condition ?? ColumnCondition(.resolved(.all), root: nil)
    }
    public static func buildEither(first condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildEither(second condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildArray(_ conditions: [ColumnCondition]) -> ColumnCondition {
        conditions.isEmpty ? ColumnCondition(.resolved(.all), root: nil) : ColumnCondition.joined(conditions)
    }
}

/// Returns the negation of a Boolean property: `.where { !$0.isActive }`.
public prefix func ! (column: Column<Bool>) -> ColumnCondition { !column._$condition }

extension Where {
    /// Creates a condition on columns: `Where<Person> { $0.age > 30 }`. Several lines are joined by "and".
    public init(@ConditionBuilder columns condition: (Columns<T>) -> ColumnCondition) {
        self.init(VariableNames.numbering { condition(Columns()) })
    }

    /// Creates a condition from one on columns.
    init(_ condition: ColumnCondition) {
        if let error = condition.error ?? ColumnCondition.refusal(of: condition.root, in: T.self) {
            self.init { throw error }
        } else if case .resolved(let predicate) = condition.condition {
            self.init(resolved: predicate)
        } else {
            self.init(condition.condition)
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
