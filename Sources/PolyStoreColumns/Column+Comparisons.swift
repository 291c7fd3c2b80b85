public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

// A comparison has an overload for a constant of an attribute, of an optional one, of an enum with raw values and of an optional enum, and one for two columns of the
// same type. Every overload more costs the type checker of every condition, also of one by key paths; those that accept more than the literal nil are disfavored, so
// that conditions by key paths are tried first. See Tests/TypeChecking.

extension ColumnCondition {
    /// Compares a value with a constant. A null constant makes a test for null.
    @inline(__always)
    init(_ column: ColumnValue, _ comparison: ComparisonOperator, _ constant: Value, _ type: AttributeType) {
        if case .field(let field) = column.form {
            let value = QueryExpression.field(field)
            let predicate: QueryPredicate =
                constant.isNull ? Self.null(value, comparison) : .compare(value, comparison, .constant(constant, type))
            self.init(predicate, root: column.root)
        } else {
            self.init(of: column, comparison, constant, type)
        }
    }

    private init(of column: ColumnValue, _ comparison: ComparisonOperator, _ constant: Value, _ type: AttributeType) {
        self.init(column) {
            .comparison(Comparison($0[0], .comparison(comparison), constant.isNull ? .null : .constant(constant, type)))
        }
    }

    private static func null(_ value: QueryExpression, _ comparison: ComparisonOperator) -> QueryPredicate {
        comparison == .notEqual ? .not(.isNull(value)) : .isNull(value)
    }

    /// Compares two values.
    init(_ left: ColumnValue, _ comparison: ComparisonOperator, _ right: ColumnValue) {
        if case .field(let first) = left.form, case .field(let second) = right.form, left.root == right.root {
            self.init(QueryPredicate.compare(.field(first), comparison, .field(second)), root: left.root)
        } else {
            self.init(left, right) { .comparison(Comparison($0[0], .comparison(comparison), $0[1])) }
        }
    }

    fileprivate init<D: Model>(_ column: ColumnValue, _ comparison: ComparisonOperator, _ target: ObjectID<D>?) {
        self.init(column) { .comparison(Comparison($0[0], .comparison(comparison), target?.operand ?? .null)) }
    }
}

extension AttributeValue {
    @inline(__always)
    fileprivate func compared(_ column: ColumnValue, _ comparison: ComparisonOperator) -> ColumnCondition {
        ColumnCondition(column, comparison, attributeValue, Self.attributeType)
    }
}

extension Optional where Wrapped: AttributeValue {
    fileprivate func compared(_ column: ColumnValue, _ comparison: ComparisonOperator) -> ColumnCondition {
        ColumnCondition(column, comparison, self?.attributeValue ?? .null, Wrapped.attributeType)
    }
}

// MARK: Equality

/// Selects objects whose column equals a value; with nil, objects without a value.
@_disfavoredOverload
public func == <V: AttributeValue & Equatable>(column: Column<V>, value: V) -> ColumnCondition { value.compared(column._$value, .equal) }
@_disfavoredOverload
public func == <V: AttributeValue & Equatable>(column: Column<V?>, value: V?) -> ColumnCondition { value.compared(column._$value, .equal) }
@_disfavoredOverload
public func == <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue {
    value.rawValue.compared(column._$value, .equal)
}
@_disfavoredOverload
public func == <V: RawRepresentable>(column: Column<V?>, value: V?) -> ColumnCondition where V.RawValue: AttributeValue {
    (value?.rawValue).compared(column._$value, .equal)
}
/// Selects objects without a value: `$0.nickname == nil`, `$0.department == nil`.
@_disfavoredOverload
public func == <V>(column: Column<V?>, value: _OptionalNilComparisonType) -> ColumnCondition {
    ColumnCondition(column._$value, .equal, .null, .int64)
}
/// Selects objects whose relationship leads to an object, or to none. An object of another store is not equal to any destination.
@_disfavoredOverload
public func == <D: Model>(column: Column<D?>, target: D?) -> ColumnCondition { ColumnCondition(column._$value, .equal, target?.objectID) }
@_disfavoredOverload
public func == <D: Model>(column: Column<D?>, target: ObjectID<D>?) -> ColumnCondition { ColumnCondition(column._$value, .equal, target) }
/// Selects the object with an id: `$0.objectID == id`.
@_disfavoredOverload
public func == <D: Model>(column: Column<ObjectID<D>>, id: ObjectID<D>) -> ColumnCondition { ColumnCondition(column._$value, .equal, id) }
/// Compares two columns. The same applies to the operators below.
@_disfavoredOverload
public func == <V: Equatable>(left: Column<V>, right: Column<V>) -> ColumnCondition { ColumnCondition(left._$value, .equal, right._$value) }

/// Selects objects whose column differs from a value; with nil, objects with a value.
@_disfavoredOverload
public func != <V: AttributeValue & Equatable>(column: Column<V>, value: V) -> ColumnCondition { value.compared(column._$value, .notEqual) }
@_disfavoredOverload
public func != <V: AttributeValue & Equatable>(column: Column<V?>, value: V?) -> ColumnCondition {
    value.compared(column._$value, .notEqual)
}
@_disfavoredOverload
public func != <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue {
    value.rawValue.compared(column._$value, .notEqual)
}
@_disfavoredOverload
public func != <V: RawRepresentable>(column: Column<V?>, value: V?) -> ColumnCondition where V.RawValue: AttributeValue {
    (value?.rawValue).compared(column._$value, .notEqual)
}
/// Selects objects with a value: `$0.nickname != nil`, `$0.department != nil`.
@_disfavoredOverload
public func != <V>(column: Column<V?>, value: _OptionalNilComparisonType) -> ColumnCondition {
    ColumnCondition(column._$value, .notEqual, .null, .int64)
}
/// Selects objects whose relationship leads to another object than the given one; with nil, to any object.
@_disfavoredOverload
public func != <D: Model>(column: Column<D?>, target: D?) -> ColumnCondition {
    ColumnCondition(column._$value, .notEqual, target?.objectID)
}
@_disfavoredOverload
public func != <D: Model>(column: Column<D?>, target: ObjectID<D>?) -> ColumnCondition {
    ColumnCondition(column._$value, .notEqual, target)
}
/// Selects all objects but the one with an id.
@_disfavoredOverload
public func != <D: Model>(column: Column<ObjectID<D>>, id: ObjectID<D>) -> ColumnCondition {
    ColumnCondition(column._$value, .notEqual, id)
}
@_disfavoredOverload
public func != <V: Equatable>(left: Column<V>, right: Column<V>) -> ColumnCondition {
    ColumnCondition(left._$value, .notEqual, right._$value)
}

// MARK: Order

/// Selects objects whose column is less than a value. Enums are compared by their raw values.
@_disfavoredOverload
public func < <V: AttributeValue & Comparable>(column: Column<V>, value: V) -> ColumnCondition { value.compared(column._$value, .less) }
@_disfavoredOverload
public func < <V: AttributeValue & Comparable>(column: Column<V?>, value: V) -> ColumnCondition { value.compared(column._$value, .less) }
@_disfavoredOverload
public func < <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .less)
}
@_disfavoredOverload
public func < <V: RawRepresentable>(column: Column<V?>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .less)
}
@_disfavoredOverload
public func < <V: Comparable>(left: Column<V>, right: Column<V>) -> ColumnCondition { ColumnCondition(left._$value, .less, right._$value) }
@_disfavoredOverload
public func < <V: Comparable>(left: Column<V?>, right: Column<V?>) -> ColumnCondition {
    ColumnCondition(left._$value, .less, right._$value)
}

/// Selects objects whose column is less than or equal to a value. Enums are compared by their raw values.
@_disfavoredOverload
public func <= <V: AttributeValue & Comparable>(column: Column<V>, value: V) -> ColumnCondition {
    value.compared(column._$value, .lessOrEqual)
}
@_disfavoredOverload
public func <= <V: AttributeValue & Comparable>(column: Column<V?>, value: V) -> ColumnCondition {
    value.compared(column._$value, .lessOrEqual)
}
@_disfavoredOverload
public func <= <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .lessOrEqual)
}
@_disfavoredOverload
public func <= <V: RawRepresentable>(column: Column<V?>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .lessOrEqual)
}
@_disfavoredOverload
public func <= <V: Comparable>(left: Column<V>, right: Column<V>) -> ColumnCondition {
    ColumnCondition(left._$value, .lessOrEqual, right._$value)
}
@_disfavoredOverload
public func <= <V: Comparable>(left: Column<V?>, right: Column<V?>) -> ColumnCondition {
    ColumnCondition(left._$value, .lessOrEqual, right._$value)
}

/// Selects objects whose column is greater than a value. Enums are compared by their raw values.
@_disfavoredOverload
public func > <V: AttributeValue & Comparable>(column: Column<V>, value: V) -> ColumnCondition { value.compared(column._$value, .greater) }
@_disfavoredOverload
public func > <V: AttributeValue & Comparable>(column: Column<V?>, value: V) -> ColumnCondition { value.compared(column._$value, .greater) }
@_disfavoredOverload
public func > <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .greater)
}
@_disfavoredOverload
public func > <V: RawRepresentable>(column: Column<V?>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .greater)
}
@_disfavoredOverload
public func > <V: Comparable>(left: Column<V>, right: Column<V>) -> ColumnCondition {
    ColumnCondition(left._$value, .greater, right._$value)
}
@_disfavoredOverload
public func > <V: Comparable>(left: Column<V?>, right: Column<V?>) -> ColumnCondition {
    ColumnCondition(left._$value, .greater, right._$value)
}

/// Selects objects whose column is greater than or equal to a value. Enums are compared by their raw values.
@_disfavoredOverload
public func >= <V: AttributeValue & Comparable>(column: Column<V>, value: V) -> ColumnCondition {
    value.compared(column._$value, .greaterOrEqual)
}
@_disfavoredOverload
public func >= <V: AttributeValue & Comparable>(column: Column<V?>, value: V) -> ColumnCondition {
    value.compared(column._$value, .greaterOrEqual)
}
@_disfavoredOverload
public func >= <V: RawRepresentable>(column: Column<V>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .greaterOrEqual)
}
@_disfavoredOverload
public func >= <V: RawRepresentable>(column: Column<V?>, value: V) -> ColumnCondition where V.RawValue: AttributeValue & Comparable {
    value.rawValue.compared(column._$value, .greaterOrEqual)
}
@_disfavoredOverload
public func >= <V: Comparable>(left: Column<V>, right: Column<V>) -> ColumnCondition {
    ColumnCondition(left._$value, .greaterOrEqual, right._$value)
}
@_disfavoredOverload
public func >= <V: Comparable>(left: Column<V?>, right: Column<V?>) -> ColumnCondition {
    ColumnCondition(left._$value, .greaterOrEqual, right._$value)
}
