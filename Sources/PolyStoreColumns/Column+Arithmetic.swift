public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

// Computed values. Integers are computed in 64 bits, reals as `Double`, decimals exactly to 38 digits; an integer divided by an integer is an integer, and null if the
// divisor is 0. A value that is computed from null is null. Divisions of decimals are refused by the fetch.

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
    column._$value.replacingNull(with: value)
}
@_disfavoredOverload
public func ?? <V: AttributeValue>(column: Column<V>, value: V) -> Column<V> { column._$value.replacingNull(with: value) }

extension ColumnValue {
    fileprivate func replacingNull<V: AttributeValue>(with value: V) -> Column<V> {
        Column<V>(
            _$value: ColumnValue([self, value.column], isOfRelated: false) {
                .conditional(.comparison(Comparison($0[0], .equal, .null)), $0[1], $0[0])
            })
    }
}

extension Column where V: ColumnText {
    /// The number of characters: `$0.name.length > 3`.
    public var length: Column<Int> { Column<Int>(_$value: ColumnValue([_$value]) { .function(.length, $0) }) }
    /// The text in uppercase, by Unicode's default rules.
    public var uppercased: Column { Column(_$value: ColumnValue([_$value]) { .function(.uppercase, $0) }) }
    /// The text in lowercase, by Unicode's default rules.
    public var lowercased: Column { Column(_$value: ColumnValue([_$value]) { .function(.lowercase, $0) }) }
}

extension ColumnCondition {
    /// Returns one of two values: the first where the condition is true, the second where it is false or unknown.
    ///
    ///     .orderBy { ($0.age < 18).then($0.age, else: 0) }
    public func then<V: AttributeValue>(_ first: V, else second: V) -> Column<V> { choice(first.column, second.column) }
    public func then<V: AttributeValue>(_ first: V, else second: Column<V>) -> Column<V> { choice(first.column, second._$value) }
    public func then<V: AttributeValue>(_ first: Column<V>, else second: V) -> Column<V> { choice(first._$value, second.column) }
    public func then<V>(_ first: Column<V>, else second: Column<V>) -> Column<V> { choice(first._$value, second._$value) }

    private func choice<V>(_ first: ColumnValue, _ second: ColumnValue) -> Column<V> {
        Column<V>(
            _$value: ColumnValue([first, second], levels: levels, root: root) {
                if let error { throw error }
                return .conditional(condition.byNames, $0[0], $0[1])
            })
    }
}
