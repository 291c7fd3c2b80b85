public import Foundation
public import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel

// Aggregates over the objects of a group, or over all objects. They belong to selections, conditions on groups and the orders of groups; a condition on objects
// refuses them.

extension ColumnValue {
    fileprivate func aggregate(_ function: Aggregate.Function) -> ColumnValue {
        ColumnValue([self], isOfRelated: false) { .aggregate(function, $0[0]) }
    }
}

/// A number, or an optional one: the columns that have a sum and an average.
public protocol ColumnNumber {
    /// The type of sums.
    associatedtype Sum
    /// The type of averages.
    associatedtype Average
}

extension Int: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension Int8: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension Int16: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension Int32: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension Int64: ColumnNumber {
    public typealias Sum = Int64
    public typealias Average = Double
}
extension UInt: ColumnNumber {
    public typealias Sum = UInt
    public typealias Average = Double
}
extension UInt8: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension UInt16: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension UInt32: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension UInt64: ColumnNumber {
    public typealias Sum = UInt64
    public typealias Average = Double
}
extension Double: ColumnNumber {
    public typealias Sum = Double
    public typealias Average = Double
}
extension Float: ColumnNumber {
    public typealias Sum = Double
    public typealias Average = Double
}
extension Bool: ColumnNumber {
    public typealias Sum = Int
    public typealias Average = Double
}
extension Decimal: ColumnNumber {
    public typealias Sum = Decimal
    public typealias Average = Decimal
}
extension Optional: ColumnNumber where Wrapped: ColumnNumber {
    public typealias Sum = Wrapped.Sum
    public typealias Average = Wrapped.Average
}

extension Column where V: ColumnNumber {
    /// The sum over the objects of a group; 0 without values. Sums of integers and decimals are exact, and the query throws on overflow. The sum of Booleans is
    /// the number of true values.
    public var sum: Column<V.Sum> { Column<V.Sum>(_$value: _$value.aggregate(.sum)) }
    /// The arithmetic mean over the objects of a group; nil without values.
    public var average: Column<V.Average?> { Column<V.Average?>(_$value: _$value.aggregate(.average)) }
    /// The population standard deviation over the objects of a group; nil without values.
    public var standardDeviation: Column<Double?> { Column<Double?>(_$value: _$value.aggregate(.standardDeviation)) }
    /// The median over the objects of a group; for an even number of values, the average of the two middle values; nil without values.
    public var median: Column<Double?> { Column<Double?>(_$value: _$value.aggregate(.median)) }
}

extension Column where V: AttributeValue {
    /// The least value of the objects of a group; nil without values.
    @_disfavoredOverload public var minimum: Column<V?> { Column<V?>(_$value: _$value.aggregate(.minimum)) }
    /// The greatest value of the objects of a group; nil without values.
    @_disfavoredOverload public var maximum: Column<V?> { Column<V?>(_$value: _$value.aggregate(.maximum)) }
    /// The most frequent value of the objects of a group, and the least of several equally frequent ones; nil without values.
    @_disfavoredOverload public var mode: Column<V?> { Column<V?>(_$value: _$value.aggregate(.mode)) }
    /// The number of objects of a group whose value is not null. The number of all objects is `$0.objectID.count`.
    public var nonNullCount: Column<Int> { Column<Int>(_$value: _$value.aggregate(.count)) }
    /// The number of distinct values of the objects of a group.
    public var countDistinct: Column<Int> { Column<Int>(_$value: _$value.aggregate(.countDistinct)) }
}

extension Column where V: ColumnOptional, V.Wrapped: AttributeValue {
    /// The least value of the objects of a group; nil without values.
    public var minimum: Column<V> { Column<V>(_$value: _$value.aggregate(.minimum)) }
    /// The greatest value of the objects of a group; nil without values.
    public var maximum: Column<V> { Column<V>(_$value: _$value.aggregate(.maximum)) }
    /// The most frequent value of the objects of a group, and the least of several equally frequent ones; nil without values.
    public var mode: Column<V> { Column<V>(_$value: _$value.aggregate(.mode)) }
}

extension Column where V: RawRepresentable, V.RawValue: AttributeValue {
    /// The number of distinct cases of the objects of a group.
    @_disfavoredOverload public var countDistinct: Column<Int> { Column<Int>(_$value: _$value.aggregate(.countDistinct)) }
}

/// The id of an object, whose column counts objects.
public protocol ColumnIdentifier {}
extension ObjectID: ColumnIdentifier {}

extension Column where V: ColumnIdentifier {
    /// The number of objects of a group: `$0.objectID.count`; over a path, the number of those that lead to an object.
    public var count: Column<Int> {
        Column<Int>(
            _$value: ColumnValue([_$value], isOfRelated: false) { operands in
                if case .path(let path) = operands[0], path.keys == ["objectID"] {
                    .aggregate(.count, nil)
                } else {
                    .aggregate(.count, operands[0])
                }
            })
    }
    /// The number of distinct objects: `$0.department.objectID.countDistinct`.
    public var countDistinct: Column<Int> { Column<Int>(_$value: _$value.aggregate(.countDistinct)) }
}

// MARK: Missing values

extension Column where V: AttributeValue {
    /// The column with nil where a relationship on its path leads to no object: `.select { $0.department.title.orNil }`.
    public var orNil: Column<V?> { Column<V?>(_$value: _$value) }
}

extension Column where V: RawRepresentable, V.RawValue: AttributeValue {
    @_disfavoredOverload public var orNil: Column<V?> { Column<V?>(_$value: _$value) }
}

extension Column where V: ColumnIdentifier {
    /// The column with nil where a relationship on its path leads to no object.
    public var orNil: Column<V?> { Column<V?>(_$value: _$value) }
}

extension Column {
    /// The column with a name in the rows of a selection, for dictionaries and `Decodable` types: `$0.age.average.as("averageAge")`.
    public func `as`(_ name: String) -> Column { Column(_$value: _$value.named(name)) }
}
