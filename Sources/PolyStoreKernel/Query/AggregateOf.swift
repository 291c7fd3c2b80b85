public import Foundation
import PolyStoreAttributes
import PolyStoreBackend

/// A value computed over many objects of a model: a count, a sum, an average, a minimum or a maximum.
///
///     try context.queryValue(From<Person>(), .average(\.age))
///     try context.queryGroups(From<Person>(), by: \.city, .count, .maximum(\.age))
///
/// The result has the type that follows from the attribute. ``Select`` takes names, paths of relationships, expressions and aliases instead, and the type of its
/// result is written.
public struct AggregateOf<T: Model, Result>: Sendable {
    let function: Aggregate.Function
    /// The attribute.
    let operand: QueryName
    /// Decodes the value that the store returns.
    let decode: @Sendable (Value, Entity) throws -> Result

    private init(
        _ function: Aggregate.Function, _ path: PartialKeyPath<T>, _ decode: @escaping @Sendable (Value, Entity) throws -> Result
    ) {
        (self.function, operand, self.decode) = (function, .path(path), decode)
    }

    fileprivate init(countingWith decode: @escaping @Sendable (Value, Entity) throws -> Result) {
        (function, operand, self.decode) = (.count, .objects, decode)
    }
}

extension AggregateOf where Result == Int {
    /// The number of objects.
    public static var count: AggregateOf { AggregateOf(countingWith: integer) }
    /// Returns the number of objects whose attribute is not null.
    public static func count<V>(_ path: KeyPath<T, V>) -> AggregateOf { AggregateOf(.count, path, integer) }
    /// Returns the number of distinct values.
    public static func countDistinct<V>(_ path: KeyPath<T, V>) -> AggregateOf { AggregateOf(.countDistinct, path, integer) }

    /// Returns the exact sum of integers; 0 for no values. The query throws on overflow.
    public static func sum<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.sum, path, V.attributeType == .uint64 ? unsigned : integer)
    }
    public static func sum<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.sum, path, V.attributeType == .uint64 ? unsigned : integer)
    }

    /// Returns the number of objects whose attribute is true.
    public static func sum(_ path: KeyPath<T, Bool>) -> AggregateOf { AggregateOf(.sum, path, integer) }
    public static func sum(_ path: KeyPath<T, Bool?>) -> AggregateOf { AggregateOf(.sum, path, integer) }

    /// Decodes an unsigned sum, which the store returns as a bit pattern.
    @Sendable private static func unsigned(_ value: Value, _ entity: Entity) throws -> Int {
        guard case .integer(let pattern) = value else { return 0 }
        guard pattern >= 0 else {
            throw StoreError(.invalidValue, "The sum is \(UInt64(bitPattern: pattern)), which does not fit an Int.", entity: entity.name)
        }
        return Int(pattern)
    }

    @Sendable private static func integer(_ value: Value, _ entity: Entity) -> Int {
        if case .integer(let integer) = value { Int(integer) } else { 0 }
    }

}

extension AggregateOf where Result == Double {
    /// Returns the sum of reals, with compensation of rounding errors; 0 for no values.
    public static func sum<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.sum, path, real)
    }
    public static func sum<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.sum, path, real)
    }

    @Sendable private static func real(_ value: Value, _ entity: Entity) -> Double { if case .real(let real) = value { real } else { 0 } }
}

extension AggregateOf where Result == Decimal {
    /// Returns the exact sum of decimals; 0 for no values. The query throws if the sum exceeds 38 digits.
    public static func sum(_ path: KeyPath<T, Decimal>) -> AggregateOf { AggregateOf(.sum, path, sum) }
    public static func sum(_ path: KeyPath<T, Decimal?>) -> AggregateOf { AggregateOf(.sum, path, sum) }

    @Sendable private static func sum(_ value: Value, _ entity: Entity) -> Decimal { Decimal(stored: value) ?? 0 }
}

extension AggregateOf where Result == Decimal? {
    /// Returns the average of decimals, to 38 digits; nil for no values.
    public static func average(_ path: KeyPath<T, Decimal>) -> AggregateOf { AggregateOf(.average, path, average) }
    public static func average(_ path: KeyPath<T, Decimal?>) -> AggregateOf { AggregateOf(.average, path, average) }

    @Sendable private static func average(_ value: Value, _ entity: Entity) -> Decimal? { Decimal(stored: value) }
}

extension Decimal {
    /// Decodes the value of a decimal attribute; nil for null.
    fileprivate init?(stored value: Value) {
        guard case .blob(let bytes) = value, let decimal = bytes.withUnsafeBytes({ Decimal(orderedBytes: $0) }) else { return nil }
        self = decimal
    }
}

extension AggregateOf where Result == Double? {
    /// Returns the average of numbers; nil for no values.
    public static func average<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.average, path, real)
    }
    public static func average<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.average, path, real)
    }
    public static func average<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.average, path, real)
    }
    public static func average<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.average, path, real)
    }

    /// Returns the fraction of objects whose attribute is true, from 0 to 1; nil for no values.
    public static func average(_ path: KeyPath<T, Bool>) -> AggregateOf { AggregateOf(.average, path, real) }
    public static func average(_ path: KeyPath<T, Bool?>) -> AggregateOf { AggregateOf(.average, path, real) }

    /// Returns the average of decimals, rounded to a `Double`, where the context requires one; nil for no values.
    @_disfavoredOverload
    public static func average(_ path: KeyPath<T, Decimal>) -> AggregateOf { AggregateOf(.average, path, real) }
    @_disfavoredOverload
    public static func average(_ path: KeyPath<T, Decimal?>) -> AggregateOf { AggregateOf(.average, path, real) }

    /// Returns the population standard deviation of numbers; nil for no values.
    public static func standardDeviation<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.standardDeviation, path, real)
    }
    public static func standardDeviation<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.standardDeviation, path, real)
    }
    public static func standardDeviation<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.standardDeviation, path, real)
    }
    public static func standardDeviation<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.standardDeviation, path, real)
    }

    /// Returns the median of numbers; for an even number of values, the average of the two middle values; nil for no values.
    public static func median<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.median, path, real)
    }
    public static func median<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.median, path, real)
    }
    public static func median<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(.median, path, real)
    }
    public static func median<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(.median, path, real)
    }

    // For the error messages of the compiler, which otherwise cannot say which types are accepted.
    @available(*, unavailable, message: "an average needs an attribute of numbers, decimals or Booleans")
    public static func average<V>(_ path: KeyPath<T, V>) -> AggregateOf { fatalError() }
    @available(*, unavailable, message: "a standardDeviation needs an attribute of numbers")
    public static func standardDeviation<V>(_ path: KeyPath<T, V>) -> AggregateOf { fatalError() }
    @available(*, unavailable, message: "a median needs an attribute of numbers")
    public static func median<V>(_ path: KeyPath<T, V>) -> AggregateOf { fatalError() }

    @Sendable private static func real(_ value: Value, _ entity: Entity) -> Double? {
        if case .real(let real) = value { real } else { Decimal(stored: value).map { Double(truncating: $0 as NSDecimalNumber) } }
    }
}

extension AggregateOf {
    /// Returns the minimum; nil for no values.
    public static func minimum<V: AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf where Result == V? {
        AggregateOf(.minimum, path, value(path))
    }
    public static func minimum<V: AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf where Result == V? {
        AggregateOf(.minimum, path, value(path))
    }
    /// Returns the maximum; nil for no values.
    public static func maximum<V: AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf where Result == V? {
        AggregateOf(.maximum, path, value(path))
    }
    public static func maximum<V: AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf where Result == V? {
        AggregateOf(.maximum, path, value(path))
    }

    /// Returns the most frequent value, and the least of several equally frequent ones; nil for no values.
    public static func mode<V: AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf where Result == V? {
        AggregateOf(.mode, path, value(path))
    }
    public static func mode<V: AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf where Result == V? {
        AggregateOf(.mode, path, value(path))
    }

    private static func value<V: AttributeValue>(_ path: PartialKeyPath<T>) -> @Sendable (Value, Entity) throws -> V? {
        if let field = T._$properties.knownField(path) { return { value, entity in try ValueDecoder(entity).decode(value, field) } }
        // A value of a related object.
        let decoder = ResultDecoder(of: V.self)
        return { value, entity in
            guard let value = try QueryValue(value, V.attributeType) else { return nil }
            guard let found = try decoder.decode(value, nil) as? V else {
                throw StoreError(.invalidValue, "The result is \(value), which is no \(V.self).", entity: entity.name)
            }
            return found
        }
    }
}

/// Decodes the values of a store to Swift values.
struct ValueDecoder {
    private let arena = RecordArena(capacity: 256)
    private let entity: Entity

    init(_ entity: Entity) { self.entity = entity }

    /// - Returns: nil for null.
    func decode<V: AttributeValue>(_ value: Value, _ field: FieldReference) throws -> V? {
        if value.isNull { return nil }
        // Decodes from a record with this single field, so that values are decoded in one way only.
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        try builder.set(entity.fields[field.index], value)
        return try V.decodeAttribute(builder.finishedView(), field.index)
    }
}

/// A group of objects with equal values in an attribute, and the aggregates over them.
public struct QueryGroup<Key, Values> {
    /// The value that the objects have in common.
    public let key: Key
    /// The aggregates.
    public let values: Values

    package init(key: Key, values: Values) { (self.key, self.values) = (key, values) }
}

extension QueryGroup: Sendable where Key: Sendable, Values: Sendable {}
