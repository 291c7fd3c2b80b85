public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

// The same three for sets. With a second candidate, the compiler reports a misspelt property in the closure at its place instead of saying that there is no `any`.
extension Column {
    /// Selects objects for which at least one related object satisfies a condition.
    @_disfavoredOverload
    public func any<M: Model>(@ConditionBuilder _ condition: (Columns<M>) -> ColumnCondition) -> ColumnCondition where V == Set<M> {
        any(condition)
    }

    /// Selects objects for which every related object satisfies a condition. Includes objects without related objects.
    @_disfavoredOverload
    public func all<M: Model>(@ConditionBuilder _ condition: (Columns<M>) -> ColumnCondition) -> ColumnCondition where V == Set<M> {
        all(condition)
    }

    /// Selects objects for which no related object satisfies a condition.
    @_disfavoredOverload
    public func none<M: Model>(@ConditionBuilder _ condition: (Columns<M>) -> ColumnCondition) -> ColumnCondition where V == Set<M> {
        none(condition)
    }
}

/// To-many relationships.
extension Column where V: Collection, V.Element: Model {
    /// Selects objects for which at least one related object satisfies a condition: `$0.friends.any { $0.age > 18 }`. Never unknown, as `all` and `none`.
    ///
    /// The condition can use the columns of the closures around it.
    public func any(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition {
        counted(condition) { satisfying, _ in .comparison(Comparison(satisfying, .greater, 0.operand)) }
    }

    /// Selects objects for which every related object satisfies a condition. Includes objects without related objects.
    public func all(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition {
        !counted(condition) { satisfying, all in .comparison(Comparison(satisfying, .notEqual, all)) }
    }

    /// Selects objects for which no related object satisfies a condition.
    public func none(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnCondition { !any(condition) }

    /// The number of related objects: `$0.friends.count > 3`. Over a path, null if a relationship on the way leads to no object.
    public var count: Column<Int> {
        Column<Int>(
            _$value: ColumnValue([_$value]) {
                let path = try Self.relationship($0[0])
                return .path(PropertyPath(path.keys + ["@count"], variable: path.variable))
            })
    }

    /// The number of related objects that satisfy a condition: `$0.friends.count { $0.age > 18 } > 3`.
    public func count(@ConditionBuilder _ condition: (Columns<V.Element>) -> ColumnCondition) -> Column<Int> {
        Column<Int>(_$value: satisfying(condition))
    }

    /// Selects objects without related objects. Over a path, unknown if a relationship on the way leads to no object.
    public var isEmpty: ColumnCondition { count == 0 }

    /// Selects objects that are related to an object: `$0.friends.contains(jane)`.
    public func contains(_ object: V.Element) -> ColumnCondition { contains(object.objectID) }
    public func contains(_ id: ObjectID<V.Element>) -> ColumnCondition {
        ColumnCondition(_$value) { .comparison(Comparison($0[0], .equal, id.operand, modifier: .any)) }
    }

    /// Returns the path of a relationship.
    private static func relationship(_ operand: Operand) throws -> PropertyPath {
        guard case .path(let path) = operand else {
            throw StoreError(.invalidPredicate, "A closure of columns uses the objects of a value that is not a relationship.")
        }
        return path
    }

    /// Returns a condition on the number of related objects that satisfy a condition, and on the number of all, that is false where it is unknown: where a
    /// relationship on the way leads to no object.
    private func counted(
        _ condition: (Columns<V.Element>) -> ColumnCondition, _ make: (_ satisfying: Operand, _ all: Operand) -> Condition
    ) -> ColumnCondition {
        ColumnCondition(satisfying(condition), count._$value) { operands in
            let comparison = make(operands[0], operands[1])
            guard case .path(let path) = operands[1], path.keys.count > 2 else { return comparison }
            return .comparison(Comparison(.conditional(comparison, 1.operand, 0.operand), .equal, 1.operand))
        }
    }

    /// Returns the number of related objects that satisfy a condition.
    private func satisfying(_ condition: (Columns<V.Element>) -> ColumnCondition) -> ColumnValue {
        let variable = VariableNames.new()
        let inner = condition(Columns(variable: variable))
        return ColumnValue([_$value], levels: inner.levels, root: inner.root) { operands in
            if let error = inner.error { throw error }
            let path = try Self.relationship(operands[0])
            guard !path.keys.contains(where: { $0.hasPrefix("[") }) else {
                throw StoreError(.invalidPredicate, "A closure on related objects cannot follow a position of an ordered relationship.")
            }
            return .subquery(path, variable: variable, inner.condition.byNames)
        }
    }
}

/// The values of a property of all related objects: `$0.friends.age`. They are aggregated: `$0.friends.age.average > 30`.
public struct RelatedColumn<V> {
    private let value: ColumnValue

    fileprivate init(_ value: ColumnValue) { self.value = value }

    /// Returns an aggregate, whose operator precedes the last key.
    fileprivate func aggregate<R>(_ operation: String) -> Column<R> {
        Column<R>(
            _$value: ColumnValue([value]) {
                guard case .path(let path) = $0[0], let key = path.keys.last else { return $0[0] }
                return .path(PropertyPath(path.keys.dropLast() + [operation, key], variable: path.variable))
            })
    }
}

extension Column where V: Collection, V.Element: Model {
    /// Returns the values of a property of the related objects.
    public subscript<W>(dynamicMember path: KeyPath<V.Element, W>) -> RelatedColumn<W> {
        RelatedColumn<W>(_$value.following(path, V.Element.self, isToMany: true))
    }
}

extension RelatedColumn where V: ColumnNumber {
    /// The sum; 0 without related objects.
    public var sum: Column<V.Sum> { aggregate("@sum") }
    /// The arithmetic mean; null without related objects.
    public var average: Column<V.Average?> { aggregate("@avg") }
    /// The population standard deviation; null without related objects.
    public var standardDeviation: Column<Double?> { aggregate("@stddev") }
    /// The median; null without related objects.
    public var median: Column<Double?> { aggregate("@median") }
}

extension RelatedColumn where V: AttributeValue {
    /// The least value; null without related objects.
    public var minimum: Column<V?> { aggregate("@min") }
    /// The greatest value; null without related objects.
    public var maximum: Column<V?> { aggregate("@max") }
    /// The most frequent value, and the least of several equally frequent ones; null without related objects.
    public var mode: Column<V?> { aggregate("@mode") }
}

extension RelatedColumn where V: ColumnOptional, V.Wrapped: AttributeValue {
    public var minimum: Column<V.Wrapped?> { aggregate("@min") }
    public var maximum: Column<V.Wrapped?> { aggregate("@max") }
    public var mode: Column<V.Wrapped?> { aggregate("@mode") }
}

// For the error messages of the compiler.

@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func == <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }
@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func != <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }
@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func < <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }
@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func <= <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }
@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func > <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }
@available(*, unavailable, message: "related objects have many values: compare an aggregate, or use any: $0.friends.any { $0.age > 3 }")
@_disfavoredOverload
public func >= <V>(values: RelatedColumn<V>, value: V) -> ColumnCondition { fatalError() }

/// Ordered to-many relationships.
extension Column where V: RandomAccessCollection, V.Element: Model {
    /// The related object at a position, from 0: `$0.errands[0].title == "plan"`.
    public subscript(position: Int) -> Column<V.Element?> {
        at {
            guard position >= 0 else {
                throw StoreError(.invalidPredicate, "A closure of columns asks for the object at the position \(position).")
            }
            return "[\(position)]"
        }
    }
    /// The first related object: `$0.errands.first.title == "plan"`.
    public var first: Column<V.Element?> { at { "[FIRST]" } }
    /// The last related object.
    public var last: Column<V.Element?> { at { "[LAST]" } }

    private func at(_ key: () throws -> String) -> Column<V.Element?> {
        Column<V.Element?>(
            _$value: ColumnValue([_$value]) {
                guard case .path(let path) = $0[0] else { return $0[0] }
                return .path(PropertyPath(path.keys + [try key()], variable: path.variable))
            })
    }
}
