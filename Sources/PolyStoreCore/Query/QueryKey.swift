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

    fileprivate func compare<T: Model>(
        _ operation: Comparison.Operator, _ operand: Operand, options: TextOptions = []
    ) -> Where<T> {
        Where(.comparison(Comparison(.path(path), operation, operand, modifier: modifier, options: options)))
    }
}

public prefix func % (name: String) -> QueryKey { QueryKey(name) }
/// For a modifier behind it: `%"friends.age"%.any`.
public postfix func % (name: String) -> QueryKey { QueryKey(name) }

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
public func ~= <T: Model, S: Sequence>(values: S, key: QueryKey) -> Where<T> where S.Element: QueryArgument {
    key.compare(.oneOf, .list(values.map(\.queryOperand)))
}

/// Within a closed range: `18...65 ~= %"age"`.
public func ~= <T: Model, V: QueryArgument>(range: ClosedRange<V>, key: QueryKey) -> Where<T> { key.compare(.between, range.queryOperand) }

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
