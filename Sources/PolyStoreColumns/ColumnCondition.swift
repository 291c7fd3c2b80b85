import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// A condition on columns, which a closure returns: `.where { $0.age > 30 && $0.name == "Jane" }`.
///
/// `&&`, `||` and `!` combine conditions.
public struct ColumnCondition: Sendable, Hashable {
    let condition: Condition
    /// The error that makes the condition invalid; thrown by the fetch.
    let error: StoreError?
    /// A lower bound of the nesting depth. Conditions that the same operator joins are one level.
    private let levels: Int

    init(_ condition: Condition, levels: Int = 1, error: StoreError? = nil) {
        let isTooDeep = levels > FetchRequest.maximumDepth
        self.condition = isTooDeep ? .constant(false) : condition
        self.levels = isTooDeep ? 1 : levels
        self.error =
            error
            ?? (isTooDeep
                ? StoreError(.invalidPredicate, "The condition is nested too deeply; \(FetchRequest.maximumDepth) levels are the limit.")
                : nil)
    }

    /// Creates a condition with a closure, whose error is kept for the fetch.
    init(catching make: () throws -> Condition) {
        do { self.init(try make()) } catch {
            self.init(.constant(false), error: error as? StoreError ?? StoreError(.invalidPredicate, "\(error)"))
        }
    }

    /// Returns the disjunction of two conditions.
    static func either(_ left: ColumnCondition, _ right: ColumnCondition) -> ColumnCondition {
        let levels = max(left.isDisjunction ? left.levels : left.levels + 1, right.levels + 1)
        let error = left.error ?? right.error
        if case .resolved(let first) = left.condition, case .resolved(let second) = right.condition {
            return ColumnCondition(.resolved(.or([first, second])), levels: levels, error: error)
        }
        if case .or(let parts) = left.condition { return ColumnCondition(.or(parts + [right.condition]), levels: levels, error: error) }
        return ColumnCondition(.or([left.condition, right.condition]), levels: levels, error: error)
    }

    /// Returns the negation of a condition.
    public static prefix func ! (condition: ColumnCondition) -> ColumnCondition {
        if case .resolved(let predicate) = condition.condition {
            return ColumnCondition(.resolved(.not(predicate)), levels: condition.levels + 1, error: condition.error)
        }
        return ColumnCondition(.not(condition.condition), levels: condition.levels + 1, error: condition.error)
    }

    private var isDisjunction: Bool {
        switch condition {
        case .or: true
        case .resolved(let predicate): if case .or = predicate.node { true } else { false }
        default: false
        }
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
        return ColumnCondition(
            isResolved ? .resolved(.and(resolved)) : .and(parts), levels: levels, error: conditions.lazy.compactMap(\.error).first)
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
public func && <L: ColumnTest, R: ColumnTest>(left: L, right: R) -> ColumnCondition {
    ColumnCondition.joined([left._$condition, right._$condition])
}

/// Returns the disjunction of two conditions.
@_disfavoredOverload
public func || <L: ColumnTest, R: ColumnTest>(left: L, right: R) -> ColumnCondition { .either(left._$condition, right._$condition) }

/// Joins the lines of a closure of columns by "and". A line is a condition or a column of a Boolean property; an `if` that is not taken
/// and a `for` without elements select all objects.
@resultBuilder
public enum ConditionBuilder {
    /// Takes a condition as a line. The other functions are called for the statements of the closure.
    public static func buildExpression(_ condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildExpression(_ column: Column<Bool>) -> ColumnCondition { column._$condition }
    public static func buildBlock(_ first: ColumnCondition, _ others: ColumnCondition...) -> ColumnCondition {
        ColumnCondition.joined([first] + others)
    }
    public static func buildOptional(_ condition: ColumnCondition?) -> ColumnCondition { condition ?? ColumnCondition(.resolved(.all)) }
    public static func buildEither(first condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildEither(second condition: ColumnCondition) -> ColumnCondition { condition }
    public static func buildArray(_ conditions: [ColumnCondition]) -> ColumnCondition {
        conditions.isEmpty ? ColumnCondition(.resolved(.all)) : ColumnCondition.joined(conditions)
    }
}

/// Returns the negation of a Boolean property: `.where { !$0.isActive }`.
public prefix func ! (column: Column<Bool>) -> ColumnCondition { !column._$condition }

extension Where {
    /// Creates a condition on columns: `Where<Person> { $0.age > 30 }`. Several lines are joined by "and".
    public init(@ConditionBuilder _ condition: (Columns<T>) -> ColumnCondition) { self.init(condition(Columns())) }

    /// Creates a condition from one on columns.
    init(_ condition: ColumnCondition) {
        if let error = condition.error {
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
    public func `where`(@ConditionBuilder _ condition: (Columns<Entity>) -> ColumnCondition) -> Chained {
        `where`(Where(condition(Columns())))
    }
}
