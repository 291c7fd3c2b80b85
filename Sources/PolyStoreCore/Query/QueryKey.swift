import PolyStoreBackend

prefix operator %
postfix operator %

/// The name of a property, or a path over relationships, in a condition: `%"age" >= 18 && %"department.title" == "Research"`.
public struct QueryKey: Sendable, Hashable {
    let path: PropertyPath
    var modifier = Comparison.Modifier.direct

    public init(_ name: String) { path = PropertyPath(dotted: name) }

    private func with(_ modifier: Comparison.Modifier) -> QueryKey {
        var copy = self
        copy.modifier = modifier
        return copy
    }

    /// At least one of the values that the path leads to.
    public var any: QueryKey { with(.any) }
    /// Each of the values that the path leads to.
    public var all: QueryKey { with(.all) }
    /// None of the values that the path leads to.
    public var none: QueryKey { with(.none) }

    public static prefix func % (name: QueryKey) -> QueryKey { name }

    fileprivate func within<T: Model>(_ range: any QueryRange) -> Where<T> {
        Where<T>(catching: {
            guard let bounds = range.operands else {
                throw StoreError(.invalidPredicate, "The bounds of \(range) cannot be compared with \(name).", entity: T._$entityName)
            }
            // ANY of both bounds must be about one object, and two comparisons would be about two.
            guard bounds.includesHigh || bounds.low == nil || modifier == .direct || modifier == .all else {
                throw StoreError(
                    .invalidPredicate,
                    "\(modifier.rawValue) does not accept the half-open range \(range). Use a closed range, or .any(\\.relationship, range ~= \\.attribute).",
                    entity: T._$entityName)
            }
            return .within(.path(path), bounds, modifier: modifier)
        })
    }

    fileprivate func compare<T: Model>(
        _ operation: Comparison.Operator, _ operand: Operand, options: TextOptions = []
    ) -> Where<T> {
        Where(.comparison(Comparison(.path(path), operation, operand, modifier: modifier, options: options)))
    }
}

public prefix func % (name: String) -> QueryKey { QueryKey(name) }
/// For what follows with a dot: `%"friends.age"%.any`, `%"name"%.beginsWith("ja")`.
public postfix func % (name: String) -> QueryKey { QueryKey(name) }

/// So that `%"name"%.beginsWith("ja")` may begin as every other condition by a key does.
public prefix func % <T: Model>(condition: Where<T>) -> Where<T> { condition }

public func == <T: Model>(key: QueryKey, value: (any QueryArgument)?) -> Where<T> { key.compare(.equal, value?.queryOperand ?? .null) }
public func != <T: Model>(key: QueryKey, value: (any QueryArgument)?) -> Where<T> { key.compare(.notEqual, value?.queryOperand ?? .null) }
public func < <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.less, value.queryOperand) }
public func <= <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.lessOrEqual, value.queryOperand) }
public func > <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.greater, value.queryOperand) }
public func >= <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.greaterOrEqual, value.queryOperand) }

public func == <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.equal, .path(right.path)) }
public func != <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.notEqual, .path(right.path)) }
public func < <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.less, .path(right.path)) }
public func <= <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.lessOrEqual, .path(right.path)) }
public func > <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.greater, .path(right.path)) }
public func >= <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.greaterOrEqual, .path(right.path)) }

/// One of some values: `[18, 21] ~= %"age"`.
@_disfavoredOverload
public func ~= <T: Model, S: Sequence>(values: S, key: QueryKey) -> Where<T> where S.Element: QueryArgument {
    // A range in a generic function: its elements may be too many to list, or endless.
    if let range = values as? any QueryRange { return key.within(range) }
    return key.compare(.oneOf, .list(values.map(\.queryOperand)))
}

/// Within a range of any shape: `18...65 ~= %"age"`, `30... ~= %"age"`.
public func ~= <T: Model, R: QueryRange>(range: R, key: QueryKey) -> Where<T> where R.Bound: QueryArgument { key.within(range) }

extension QueryKey {
    public func contains<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.contains, text.queryOperand, options: options)
    }
    public func beginsWith<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.beginsWith, text.queryOperand, options: options)
    }
    public func endsWith<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.endsWith, text.queryOperand, options: options)
    }
    public func like<T: Model>(_ pattern: String, options: TextOptions = []) -> Where<T> {
        compare(.like, pattern.queryOperand, options: options)
    }
    public func matches<T: Model>(_ expression: String) -> Where<T> { compare(.matches, expression.queryOperand) }
}
