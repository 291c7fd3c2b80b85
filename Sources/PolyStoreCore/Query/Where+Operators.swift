import PolyStoreBackend

// Conditions by key path. Each operator has a form for attributes and one for optional attributes.

public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    equal(path, value.attributeValue, V.attributeType)
}

@_disfavoredOverload
public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    equal(path, value?.attributeValue ?? .null, V.attributeType)
}

public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    notEqual(path, value.attributeValue, V.attributeType)
}

@_disfavoredOverload
public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    notEqual(path, value?.attributeValue ?? .null, V.attributeType)
}

/// `== nil` asks whether the value is missing; any other constant compares.
private func equal<T: Model>(_ path: PartialKeyPath<T>, _ value: Value, _ type: AttributeType) -> Where<T> {
    Where(path) { value.isNull ? .isNull($0) : .compare($0, .equal, .constant(value, type)) }
}

private func notEqual<T: Model>(_ path: PartialKeyPath<T>, _ value: Value, _ type: AttributeType) -> Where<T> {
    Where(path) { value.isNull ? .not(.isNull($0)) : .compare($0, .notEqual, .constant(value, type)) }
}

private func compare<T: Model, V: AttributeValue>(_ path: PartialKeyPath<T>, _ comparison: ComparisonOperator, _ value: V) -> Where<T> {
    let constant = QueryExpression.constant(value.attributeValue, V.attributeType)
    return Where(path) { .compare($0, comparison, constant) }
}

public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .less, value)
}

public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .less, value)
}

public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .lessOrEqual, value)
}

public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .lessOrEqual, value)
}

public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .greater, value)
}

public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .greater, value)
}

public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .greaterOrEqual, value)
}

public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .greaterOrEqual, value)
}

// MARK: Enums with raw values

public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value.rawValue.attributeValue, V.RawValue.attributeType)
}

@_disfavoredOverload
public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value?.rawValue.attributeValue ?? .null, V.RawValue.attributeType)
}

public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value.rawValue.attributeValue, V.RawValue.attributeType)
}

@_disfavoredOverload
public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value?.rawValue.attributeValue ?? .null, V.RawValue.attributeType)
}

// MARK: Field against field

public func == <T: Model, V: AttributeValue & Equatable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .equal, right)
}
public func != <T: Model, V: AttributeValue & Equatable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .notEqual, right)
}
public func < <T: Model, V: AttributeValue & Comparable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .less, right)
}
public func <= <T: Model, V: AttributeValue & Comparable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .lessOrEqual, right)
}
public func > <T: Model, V: AttributeValue & Comparable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .greater, right)
}
public func >= <T: Model, V: AttributeValue & Comparable>(left: KeyPath<T, V>, right: KeyPath<T, V>) -> Where<T> {
    compare(left, .greaterOrEqual, right)
}

private func compare<T: Model>(_ left: PartialKeyPath<T>, _ comparison: ComparisonOperator, _ right: PartialKeyPath<T>) -> Where<T> {
    Where(left, right) { .compare($0, comparison, $1) }
}

// MARK: To-one relationships

/// Objects whose to-one relationship leads to an object, or to none.
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> {
    equal(path, target.map { .integer($0.key) } ?? .null, .int64)
}

@_disfavoredOverload
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> {
    equal(path, target.map { .integer($0._$state.key) } ?? .null, .int64)
}

public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> {
    notEqual(path, target.map { .integer($0.key) } ?? .null, .int64)
}

@_disfavoredOverload
public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> {
    notEqual(path, target.map { .integer($0._$state.key) } ?? .null, .int64)
}

// MARK: Sets, ranges and text

/// Objects whose attribute is one of the values: `[1, 2, 3] ~= \.age`. Disfavored, as a range of integers is a sequence too.
@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V>) -> Where<T> {
    let constants = values.map { $0.attributeValue }
    return Where(path) { .oneOf($0, constants) }
}

@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V?>) -> Where<T> {
    let constants = values.map { $0.attributeValue }
    return Where(path) { .oneOf($0, constants) }
}

/// Objects whose attribute lies in a closed range: `18...65 ~= \.age`.
public func ~= <T: Model, V: AttributeValue & Comparable>(range: ClosedRange<V>, path: KeyPath<T, V>) -> Where<T> {
    path >= range.lowerBound && path <= range.upperBound
}

/// Objects whose attribute lies in a half-open range: `0..<18 ~= \.age`.
public func ~= <T: Model, V: AttributeValue & Comparable>(range: Range<V>, path: KeyPath<T, V>) -> Where<T> {
    path >= range.lowerBound && path < range.upperBound
}

/// Objects whose to-one relationship leads to one of some objects: `ids ~= \.country`.
public func ~= <T: Model, D: Model, S: Sequence<ObjectID<D>>>(targets: S, path: KeyPath<T, D?>) -> Where<T> {
    let keys = targets.map { Value.integer($0.key) }
    return Where(path) { .oneOf($0, keys) }
}
