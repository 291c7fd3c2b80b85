public import Foundation
import PolyStoreAttributes
import PolyStoreBackend

// Conditions by key path. Each operator has an overload for attributes and one for optional attributes.

/// Selects objects whose attribute equals a value; with nil, objects without a value.
public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    equal(path, value.attributeValue, V.attributeType)
}

@_disfavoredOverload
public func == <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    equal(path, value?.attributeValue ?? .null, V.attributeType)
}

/// Selects objects whose attribute differs from a value; with nil, objects with a value.
public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    notEqual(path, value.attributeValue, V.attributeType)
}

@_disfavoredOverload
public func != <T: Model, V: AttributeValue & Equatable>(path: KeyPath<T, V?>, value: V?) -> Where<T> {
    notEqual(path, value?.attributeValue ?? .null, V.attributeType)
}

/// Selects objects whose attribute is false: `!\.isActive`, or that have related objects: `!\.friends.isEmpty`.
public prefix func ! <T: Model>(path: KeyPath<T, Bool>) -> Where<T> { path == false }

/// Returns a test for null if the constant is nil; otherwise a comparison.
private func equal<T: Model>(_ path: PartialKeyPath<T>, _ value: Value, _ type: AttributeType) -> Where<T> {
    Where(path) { value.isNull ? .isNull($0) : .compare($0, .equal, .constant(value, type)) }
}

private func notEqual<T: Model>(_ path: PartialKeyPath<T>, _ value: Value, _ type: AttributeType) -> Where<T> {
    Where(path) { value.isNull ? .not(.isNull($0)) : .compare($0, .notEqual, .constant(value, type)) }
}

func compare<T: Model, V: AttributeValue>(_ path: PartialKeyPath<T>, _ comparison: ComparisonOperator, _ value: V) -> Where<T> {
    let constant = QueryExpression.constant(value.attributeValue, V.attributeType)
    return Where(path) { .compare($0, comparison, constant) }
}

/// Selects objects whose attribute is less than a value.
public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .less, value)
}

public func < <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .less, value)
}

/// Selects objects whose attribute is less than or equal to a value.
public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .lessOrEqual, value)
}

public func <= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .lessOrEqual, value)
}

/// Selects objects whose attribute is greater than a value.
public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .greater, value)
}

public func > <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .greater, value)
}

/// Selects objects whose attribute is greater than or equal to a value.
public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V>, value: V) -> Where<T> {
    compare(path, .greaterOrEqual, value)
}

public func >= <T: Model, V: AttributeValue & Comparable>(path: KeyPath<T, V?>, value: V) -> Where<T> {
    compare(path, .greaterOrEqual, value)
}

// MARK: Data, in the order of the bytes

/// Selects objects whose data is less than other data, compared byte by byte. Data that begins with other data is greater than it.
public func < <T: Model>(path: KeyPath<T, Data>, value: Data) -> Where<T> { compare(path, .less, value) }
public func < <T: Model>(path: KeyPath<T, Data?>, value: Data) -> Where<T> { compare(path, .less, value) }

/// Selects objects whose data is less than or equal to other data, compared byte by byte.
public func <= <T: Model>(path: KeyPath<T, Data>, value: Data) -> Where<T> { compare(path, .lessOrEqual, value) }
public func <= <T: Model>(path: KeyPath<T, Data?>, value: Data) -> Where<T> { compare(path, .lessOrEqual, value) }

/// Selects objects whose data is greater than other data, compared byte by byte.
public func > <T: Model>(path: KeyPath<T, Data>, value: Data) -> Where<T> { compare(path, .greater, value) }
public func > <T: Model>(path: KeyPath<T, Data?>, value: Data) -> Where<T> { compare(path, .greater, value) }

/// Selects objects whose data is greater than or equal to other data, compared byte by byte.
public func >= <T: Model>(path: KeyPath<T, Data>, value: Data) -> Where<T> { compare(path, .greaterOrEqual, value) }
public func >= <T: Model>(path: KeyPath<T, Data?>, value: Data) -> Where<T> { compare(path, .greaterOrEqual, value) }

// MARK: Missing values of any type

// A parameter that only the literal nil can be passed to. Preferred to those that accept an optional, so that the type checker tries one overload.

/// Selects objects without a value: `\.address == nil`.
public func == <T: Model, V>(path: KeyPath<T, V?>, value: _OptionalNilComparisonType) -> Where<T> { equal(path, .null, .json) }

/// Selects objects with a value: `\.address != nil`.
public func != <T: Model, V>(path: KeyPath<T, V?>, value: _OptionalNilComparisonType) -> Where<T> { notEqual(path, .null, .json) }

// MARK: Enums with raw values

/// Selects objects whose attribute equals a case.
public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value.rawValue.attributeValue, V.RawValue.attributeType)
}

@_disfavoredOverload
public func == <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    equal(path, value?.rawValue.attributeValue ?? .null, V.RawValue.attributeType)
}

/// Selects objects whose attribute differs from a case.
public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V>, value: V) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value.rawValue.attributeValue, V.RawValue.attributeType)
}

@_disfavoredOverload
public func != <T: Model, V: RawRepresentable>(path: KeyPath<T, V?>, value: V?) -> Where<T> where V.RawValue: AttributeValue {
    notEqual(path, value?.rawValue.attributeValue ?? .null, V.RawValue.attributeType)
}

// MARK: Field against field

/// Compares two attributes of an object. The same applies to the operators below.
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
public func < <T: Model>(left: KeyPath<T, Data>, right: KeyPath<T, Data>) -> Where<T> { compare(left, .less, right) }
public func <= <T: Model>(left: KeyPath<T, Data>, right: KeyPath<T, Data>) -> Where<T> { compare(left, .lessOrEqual, right) }
public func > <T: Model>(left: KeyPath<T, Data>, right: KeyPath<T, Data>) -> Where<T> { compare(left, .greater, right) }
public func >= <T: Model>(left: KeyPath<T, Data>, right: KeyPath<T, Data>) -> Where<T> { compare(left, .greaterOrEqual, right) }

private func compare<T: Model>(_ left: PartialKeyPath<T>, _ comparison: ComparisonOperator, _ right: PartialKeyPath<T>) -> Where<T> {
    Where(left, right) { .compare($0, comparison, $1) }
}

// MARK: To-one relationships

/// Selects objects whose to-one relationship has the given destination, or is null. An object of another store is not equal to any destination.
@_disfavoredOverload
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> { leads(path, to: target) }

@_disfavoredOverload
public func == <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> { leads(path, to: target?.objectID) }

/// Selects objects whose to-one relationship has another destination than the given one; with nil, any destination.
@_disfavoredOverload
public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: ObjectID<D>?) -> Where<T> { !leads(path, to: target) }

@_disfavoredOverload
public func != <T: Model, D: Model>(path: KeyPath<T, D?>, target: D?) -> Where<T> { !leads(path, to: target?.objectID) }

private func leads<T: Model, D: Model>(_ path: KeyPath<T, D?>, to target: ObjectID<D>?) -> Where<T> {
    guard let target else { return equal(path, .null, .int64) }
    nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
    return Where(of: [path, target]) { context, entry in
        let expression = try context.expression(path, entry)
        guard target.isHeld(by: entry.store) else { return .oneOf(expression, []) }
        return .compare(expression, .equal, .constant(.integer(target.rowID), .int64))
    }
}

extension ObjectID {
    /// Returns whether the object belongs to a store. Compares the store id, because the store may be open in another stack.
    func isHeld(by store: PersistentStore) -> Bool { entry.store === store || entry.store.storeID == store.storeID }
}

// MARK: Sets, ranges and text

/// Selects objects whose attribute is one of the values: `[1, 2, 3] ~= \.age`.
@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V>) -> Where<T> { isOne(of: values, path) }

@_disfavoredOverload
public func ~= <T: Model, V: AttributeValue, S: Sequence<V>>(values: S, path: KeyPath<T, V?>) -> Where<T> { isOne(of: values, path) }

private func isOne<T: Model, V: AttributeValue, S: Sequence<V>>(of values: S, _ path: PartialKeyPath<T>) -> Where<T> {
    // A range passed to a generic function. Its elements may be too many to list, or unbounded.
    if let range = values as? any QueryRange, let bounds = range.bounds(of: V.self) { return within(bounds, path) }
    let constants = values.map { $0.attributeValue }
    return Where(path) { .oneOf($0, constants) }
}

/// Selects objects whose attribute is in a range: `18...65 ~= \.age`, `0..<18 ~= \.age`, `30... ~= \.age`, `..<18 ~= \.age`, `...17 ~= \.age`.
public func ~= <T: Model, R: QueryRange>(range: R, path: KeyPath<T, R.Bound>) -> Where<T> where R.Bound: AttributeValue {
    within(range.queryBounds, path)
}

public func ~= <T: Model, R: QueryRange>(range: R, path: KeyPath<T, R.Bound?>) -> Where<T> where R.Bound: AttributeValue {
    within(range.queryBounds, path)
}

func within<T: Model, V: AttributeValue>(_ bounds: QueryBounds<V>, _ path: PartialKeyPath<T>) -> Where<T> {
    let low = bounds.low.map { QueryExpression.constant($0.attributeValue, V.attributeType) }
    let high = bounds.high.map { QueryExpression.constant($0.attributeValue, V.attributeType) }
    let upper = bounds.includesHigh ? ComparisonOperator.lessOrEqual : .less
    return Where(path) { value in
        .and(
            [
                low.map { .compare(value, .greaterOrEqual, $0) },
                high.map { .compare(value, upper, $0) },
            ].compactMap { $0 })
    }
}

/// Selects objects whose to-one relationship has one of the given destinations: `ids ~= \.country`. Objects of other stores are not equal to any.
public func ~= <T: Model, D: Model, S: Sequence<ObjectID<D>>>(targets: S, path: KeyPath<T, D?>) -> Where<T> {
    let targets = Array(targets)
    nonisolated(unsafe) let path = path  // key paths of stored properties hold no state
    return Where(of: [path, targets]) { context, entry in
        .oneOf(try context.expression(path, entry), targets.lazy.filter { $0.isHeld(by: entry.store) }.map { .integer($0.rowID) })
    }
}

/// Selects objects whose to-one relationship leads to one of the objects of a fetch: `From<Writer>().where(\.name == "Ann") ~= \.writer`. One request, as with
/// `Where.one`. The fetch of a source that has a limit, an offset or configurations of its own throws.
public func ~= <S: FetchSource, T: Model>(source: S, path: KeyPath<T, S.Entity?>) -> Where<T> {
    let chain = source.chain
    guard chain.options.limit == nil, chain.options.offset == 0, chain.from.configurations == nil else {
        return Where<T>(catching: {
            throw StoreError(
                .invalidPredicate,
                "A condition on the objects of a fetch takes its conditions only, and not its limit, offset or configurations. Fetch the ids, and use them: ids ~= \\.writer.",
                entity: T._$entityName)
        })
    }
    return Where<T>.one(path, chain.condition ?? Where(true))
}

extension Collection where Element: Model {
    /// Returns a fetch of those of the objects that satisfy a condition: `writer.books.where(\.pages > 100)`. The source lists their ids; a condition on the
    /// inverse, `From<Book>().where(\.writer == writer)`, reads an index instead.
    public func `where`(_ condition: Where<Element>) -> FetchChain<Element> {
        From<Element>().where(Where(among: map(\.objectID))).where(condition)
    }
}

extension Where {
    /// Selects the objects with some ids.
    fileprivate init(among ids: [ObjectID<T>]) {
        self.init(of: [ids]) { _, entry in .oneOf(.objectID, ids.lazy.filter { $0.isHeld(by: entry.store) }.map { .integer($0.rowID) }) }
    }
}
