public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

// Computed values. Integers are computed in 64 bits, reals as `Double`; an integer divided by an integer is an integer, and null if the divisor is 0. A value that is
// computed from null is null. Decimal numbers are refused by the fetch.

extension ColumnValue {
    fileprivate static func arithmetic(_ operation: ArithmeticOperator, _ left: ColumnValue, _ right: ColumnValue) -> ColumnValue {
        ColumnValue([left, right]) { .arithmetic(operation, $0[0], $0[1]) }
    }
}

extension AttributeValue {
    fileprivate var column: ColumnValue { ColumnValue(constant: self) }
}

/// Returns the sum of a column and a constant, or of two columns.
public func + <V: AttributeValue & Numeric>(column: Column<V>, value: V) -> Column<V> {
    Column<V>(_$value: .arithmetic(.add, column._$value, value.column))
}
public func + <V: AttributeValue & Numeric>(column: Column<V?>, value: V) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.add, column._$value, value.column))
}
public func + <V: AttributeValue & Numeric>(value: V, column: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.add, value.column, column._$value))
}
public func + <V: AttributeValue & Numeric>(left: Column<V>, right: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.add, left._$value, right._$value))
}
public func + <V: AttributeValue & Numeric>(left: Column<V?>, right: Column<V?>) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.add, left._$value, right._$value))
}

/// Returns the difference of a column and a constant, or of two columns.
public func - <V: AttributeValue & Numeric>(column: Column<V>, value: V) -> Column<V> {
    Column<V>(_$value: .arithmetic(.subtract, column._$value, value.column))
}
public func - <V: AttributeValue & Numeric>(column: Column<V?>, value: V) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.subtract, column._$value, value.column))
}
public func - <V: AttributeValue & Numeric>(value: V, column: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.subtract, value.column, column._$value))
}
public func - <V: AttributeValue & Numeric>(left: Column<V>, right: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.subtract, left._$value, right._$value))
}
public func - <V: AttributeValue & Numeric>(left: Column<V?>, right: Column<V?>) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.subtract, left._$value, right._$value))
}

/// Returns the product of a column and a constant, or of two columns.
public func * <V: AttributeValue & Numeric>(column: Column<V>, value: V) -> Column<V> {
    Column<V>(_$value: .arithmetic(.multiply, column._$value, value.column))
}
public func * <V: AttributeValue & Numeric>(column: Column<V?>, value: V) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.multiply, column._$value, value.column))
}
public func * <V: AttributeValue & Numeric>(value: V, column: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.multiply, value.column, column._$value))
}
public func * <V: AttributeValue & Numeric>(left: Column<V>, right: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.multiply, left._$value, right._$value))
}
public func * <V: AttributeValue & Numeric>(left: Column<V?>, right: Column<V?>) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.multiply, left._$value, right._$value))
}

/// Returns the quotient of a column and a constant, or of two columns.
public func / <V: AttributeValue & Numeric>(column: Column<V>, value: V) -> Column<V> {
    Column<V>(_$value: .arithmetic(.divide, column._$value, value.column))
}
public func / <V: AttributeValue & Numeric>(column: Column<V?>, value: V) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.divide, column._$value, value.column))
}
public func / <V: AttributeValue & Numeric>(value: V, column: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.divide, value.column, column._$value))
}
public func / <V: AttributeValue & Numeric>(left: Column<V>, right: Column<V>) -> Column<V> {
    Column<V>(_$value: .arithmetic(.divide, left._$value, right._$value))
}
public func / <V: AttributeValue & Numeric>(left: Column<V?>, right: Column<V?>) -> Column<V?> {
    Column<V?>(_$value: .arithmetic(.divide, left._$value, right._$value))
}

/// Returns the remainder of the division of an integer by another, with the sign of the dividend.
public func % <V: AttributeValue & BinaryInteger>(column: Column<V>, value: V) -> Column<V> {
    Column<V>(_$value: ColumnValue([column._$value, value.column]) { .function(.modulus, $0) })
}

/// Returns the value of a column, or a constant where it is null: `($0.score ?? 0) > 2`.
public func ?? <V: AttributeValue>(column: Column<V?>, value: V) -> Column<V> {
    Column<V>(
        _$value: ColumnValue([column._$value, value.column]) {
            .conditional(.comparison(Comparison($0[0], .equal, .null)), $0[1], $0[0])
        })
}

extension Column where V: ColumnText {
    /// The number of characters: `$0.name.length > 3`.
    public var length: Column<Int> { Column<Int>(_$value: ColumnValue([_$value]) { .function(.length, $0) }) }
    /// The text in uppercase, by Unicode's default rules.
    public var uppercased: Column { Column(_$value: ColumnValue([_$value]) { .function(.uppercase, $0) }) }
    /// The text in lowercase, by Unicode's default rules.
    public var lowercased: Column { Column(_$value: ColumnValue([_$value]) { .function(.lowercase, $0) }) }
}
