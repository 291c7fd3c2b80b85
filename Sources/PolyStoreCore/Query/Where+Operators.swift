import PolyStoreBackend

// Conditions by key path. Each operator has a form for attributes and one for optional attributes.

public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> { equal(path, value.attributeValue) }

@_disfavoredOverload
public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    equal(path, value?.attributeValue ?? .null)
}

public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> { notEqual(path, value.attributeValue) }

@_disfavoredOverload
public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    notEqual(path, value?.attributeValue ?? .null)
}

/// `== nil` asks whether the value is missing; any other constant compares.
private func equal<T: Model>(_ path: PartialKeyPath<T>, _ value: Value) -> Where<T> {
    Where(path) { value.isNull ? .isNull($0) : .compare($0, .equal, value) }
}

private func notEqual<T: Model>(_ path: PartialKeyPath<T>, _ value: Value) -> Where<T> {
    Where(path) { value.isNull ? .not(.isNull($0)) : .compare($0, .notEqual, value) }
}

public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    Where(path) { .compare($0, .less, value.attributeValue) }
}

public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    Where(path) { .compare($0, .less, value.attributeValue) }
}

public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    Where(path) { .compare($0, .lessOrEqual, value.attributeValue) }
}

public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    Where(path) { .compare($0, .lessOrEqual, value.attributeValue) }
}

public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    Where(path) { .compare($0, .greater, value.attributeValue) }
}

public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    Where(path) { .compare($0, .greater, value.attributeValue) }
}

public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    Where(path) { .compare($0, .greaterOrEqual, value.attributeValue) }
}

public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    Where(path) { .compare($0, .greaterOrEqual, value.attributeValue) }
}

// MARK: Enums with raw values

public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value.rawValue.attributeValue)
}

@_disfavoredOverload
public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value?.rawValue.attributeValue ?? .null)
}

public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value.rawValue.attributeValue)
}

@_disfavoredOverload
public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value?.rawValue.attributeValue ?? .null)
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
    do {
        let other = try T._$properties.field(right)
        return Where(left) { .compare($0, comparison, other) }
    } catch {
        return Where(.none, error: error as? StoreError)
    }
}

// MARK: To-one relationships

/// Objects whose to-one relationship leads to an object, or to none.
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> {
    equal(path, target.map { .integer($0.key) } ?? .null)
}

@_disfavoredOverload
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> {
    equal(path, target.map { .integer($0._$state.key) } ?? .null)
}

public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> {
    notEqual(path, target.map { .integer($0.key) } ?? .null)
}

@_disfavoredOverload
public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> {
    notEqual(path, target.map { .integer($0._$state.key) } ?? .null)
}

// MARK: Sets, ranges and text

/// Objects whose attribute is one of the values: `[1, 2, 3] ~= \.age`. Disfavored, as a range of integers is a sequence too.
@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V>) -> Where<T> {
    Where(path) { .oneOf($0, values.map { $0.attributeValue }) }
}

@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V?>) -> Where<T> {
    Where(path) { .oneOf($0, values.map { $0.attributeValue }) }
}

/// Objects whose attribute lies in a closed range: `18...65 ~= \.age`.
public func ~= <T: Model, V: AttributeValue & Comparable>(range: ClosedRange<V>, path: KeyPath<T, V>) -> Where<T> {
    path >= range.lowerBound && path <= range.upperBound
}

/// Objects whose attribute lies in a half-open range: `0..<18 ~= \.age`.
public func ~= <T: Model, V: AttributeValue & Comparable>(range: Range<V>, path: KeyPath<T, V>) -> Where<T> {
    path >= range.lowerBound && path < range.upperBound
}

extension Where {
    /// Objects whose text contains another, compared byte by byte: `.where(.contains(\.name, "ville"))`.
    public static func contains(_ path: KeyPath<T, String>, _ text: String) -> Where<T> { Where(path) { .text($0, .contains, text) } }
    /// None where there is no text.
    public static func contains(_ path: KeyPath<T, String?>, _ text: String) -> Where<T> { Where(path) { .text($0, .contains, text) } }

    /// Objects whose text begins with another, compared byte by byte. Uses an index of the attribute.
    public static func beginsWith(_ path: KeyPath<T, String>, _ text: String) -> Where<T> { Where(path) { .text($0, .beginsWith, text) } }
    /// None where there is no text.
    public static func beginsWith(_ path: KeyPath<T, String?>, _ text: String) -> Where<T> { Where(path) { .text($0, .beginsWith, text) } }

    /// Objects whose text ends with another, compared byte by byte.
    public static func endsWith(_ path: KeyPath<T, String>, _ text: String) -> Where<T> { Where(path) { .text($0, .endsWith, text) } }
    /// None where there is no text.
    public static func endsWith(_ path: KeyPath<T, String?>, _ text: String) -> Where<T> { Where(path) { .text($0, .endsWith, text) } }
}

/// Objects whose to-one relationship leads to one of some objects: `ids ~= \.country`.
public func ~= <T: Model, D: Model, S: Sequence<ObjectID<D>>>(targets: S, path: KeyPath<T, D?>) -> Where<T> {
    Where(path) { .oneOf($0, targets.map { .integer($0.key) }) }
}
