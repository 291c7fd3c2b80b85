import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions

prefix operator %
postfix operator %

/// The name of a property, or a path, in a condition: `%"age" >= 18 && %"department.title" == "Research"`.
public struct QueryKey: Sendable, Hashable {
    package let path: PropertyPath
    package var modifier = Comparison.Modifier.direct

    /// Creates a key from a name or a path.
    public init(_ name: String) { path = PropertyPath(dotted: name) }

    private func with(_ modifier: Comparison.Modifier) -> QueryKey {
        var copy = self
        copy.modifier = modifier
        return copy
    }

    /// The key with the quantifier ANY: at least one value of the path.
    public var any: QueryKey { with(.any) }
    /// The key with the quantifier ALL: every value of the path.
    public var all: QueryKey { with(.all) }
    /// The key with the quantifier NONE: no value of the path.
    public var none: QueryKey { with(.none) }

    /// Returns the key. Allows `%"friends.age"%.any` to begin with a percent sign, as all other keys do.
    public static prefix func % (name: QueryKey) -> QueryKey { name }

    fileprivate func within<T: Model>(_ range: any QueryRange) -> Where<T> {
        Where<T>(catching: {
            guard let bounds = range.operands else {
                throw StoreError(.invalidPredicate, "The bounds of \(range) cannot be compared with \(name).", entity: T._$entityName)
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

/// Creates a key: `%"age" >= 18`. The form of CoreDataMonk; the same as `QueryKey("age")`.
public prefix func % (name: String) -> QueryKey { QueryKey(name) }
/// Creates a key that is followed by a dot: `%"friends.age"%.any`, `%"name"%.beginsWith("ja")`.
public postfix func % (name: String) -> QueryKey { QueryKey(name) }

/// Returns the condition. Allows `%"name"%.beginsWith("ja")` to begin with a percent sign, as all other conditions by key do.
public prefix func % <T: Model>(condition: Where<T>) -> Where<T> { condition }

/// Compares the value of a key with a constant. The same applies to the operators below.
public func == <T: Model>(key: QueryKey, value: (any QueryArgument)?) -> Where<T> { key.compare(.equal, value?.operand ?? .null) }
public func != <T: Model>(key: QueryKey, value: (any QueryArgument)?) -> Where<T> { key.compare(.notEqual, value?.operand ?? .null) }
public func < <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.less, value.operand) }
public func <= <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.lessOrEqual, value.operand) }
public func > <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.greater, value.operand) }
public func >= <T: Model>(key: QueryKey, value: any QueryArgument) -> Where<T> { key.compare(.greaterOrEqual, value.operand) }

/// Compares the values of two keys. The same applies to the operators below.
public func == <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.equal, .path(right.path)) }
public func != <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.notEqual, .path(right.path)) }
public func < <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.less, .path(right.path)) }
public func <= <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.lessOrEqual, .path(right.path)) }
public func > <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.greater, .path(right.path)) }
public func >= <T: Model>(left: QueryKey, right: QueryKey) -> Where<T> { left.compare(.greaterOrEqual, .path(right.path)) }

/// Compares with the raw value of an enumeration case: `%"job" == Job.engineer`.
public func == <T: Model, V: RawRepresentable>(key: QueryKey, value: V) -> Where<T> where V.RawValue: QueryArgument {
    key.compare(.equal, value.rawValue.operand)
}
public func != <T: Model, V: RawRepresentable>(key: QueryKey, value: V) -> Where<T> where V.RawValue: QueryArgument {
    key.compare(.notEqual, value.rawValue.operand)
}

/// Returns a membership condition: `[18, 21] ~= %"age"`.
@_disfavoredOverload
public func ~= <T: Model, S: Sequence>(values: S, key: QueryKey) -> Where<T> where S.Element: QueryArgument {
    // A range passed to a generic function. Its elements may be too many to list, or unbounded.
    if let range = values as? any QueryRange { return key.within(range) }
    return key.compare(.oneOf, .list(values.map(\.operand)))
}

/// Returns a range condition: `18...65 ~= %"age"`, `30... ~= %"age"`.
public func ~= <T: Model, R: QueryRange>(range: R, key: QueryKey) -> Where<T> where R.Bound: QueryArgument { key.within(range) }

extension QueryKey {
    /// Returns a condition that the text contains another.
    public func contains<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.text(.contains), text.operand, options: options)
    }
    /// Returns a condition that the text begins with another.
    public func beginsWith<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.text(.beginsWith), text.operand, options: options)
    }
    /// Returns a condition that the text ends with another.
    public func endsWith<T: Model>(_ text: String, options: TextOptions = []) -> Where<T> {
        compare(.text(.endsWith), text.operand, options: options)
    }
    /// Returns a condition that the text matches a LIKE pattern.
    public func like<T: Model>(_ pattern: String, options: TextOptions = []) -> Where<T> {
        compare(.text(.like), pattern.operand, options: options)
    }
    /// Returns a condition that the whole text matches a regular expression.
    public func matches<T: Model>(_ expression: String) -> Where<T> { compare(.text(.matches), expression.operand) }
}
