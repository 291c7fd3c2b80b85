import PolyStoreBackend

/// A value worked out over many objects of a model: how many there are, a sum, an average, the least or the greatest value.
///
///     try context.queryValue(From<Person>(), .average(\.age))
///     try context.queryGroups(From<Person>(), by: \.city, .count, .maximum(\.age))
public struct AggregateOf<T: Model, Result>: Sendable {
    let aggregate: Aggregate
    /// Why it cannot be worked out; thrown by the query.
    let error: StoreError?
    /// Makes the result of what the store gave.
    let decode: @Sendable (Value, Entity) throws -> Result

    private init(
        _ path: PartialKeyPath<T>, _ make: (FieldReference) -> Aggregate, _ decode: @escaping @Sendable (Value, Entity) throws -> Result
    ) {
        self.decode = decode
        do {
            aggregate = make(try T._$properties.field(path))
            error = nil
        } catch let caught {
            aggregate = .count
            error = caught as? StoreError ?? StoreError(.invalidPredicate, "\(caught)")
        }
    }

    fileprivate init(_ aggregate: Aggregate, _ decode: @escaping @Sendable (Value, Entity) throws -> Result) {
        self.aggregate = aggregate
        self.decode = decode
        error = nil
    }
}

extension AggregateOf where Result == Int {
    /// How many objects.
    public static var count: AggregateOf { AggregateOf(.count, integer) }
    /// How many objects have a value.
    public static func count<V>(_ path: KeyPath<T, V>) -> AggregateOf { AggregateOf(path, Aggregate.count, integer) }
    /// How many different values there are.
    public static func countDistinct<V>(_ path: KeyPath<T, V>) -> AggregateOf { AggregateOf(path, Aggregate.countDistinct, integer) }

    /// The sum of integers, exact; of nothing 0. One that does not fit is an error.
    public static func sum<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(path, Aggregate.sum, V.attributeType == .uint64 ? unsigned : integer)
    }
    public static func sum<V: FixedWidthInteger & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(path, Aggregate.sum, V.attributeType == .uint64 ? unsigned : integer)
    }

    /// The store gives the bit pattern.
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
    /// The sum of reals, with rounding errors kept apart; of nothing 0.
    public static func sum<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(path, Aggregate.sum, real)
    }
    public static func sum<V: BinaryFloatingPoint & AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf {
        AggregateOf(path, Aggregate.sum, real)
    }

    @Sendable private static func real(_ value: Value, _ entity: Entity) -> Double { if case .real(let real) = value { real } else { 0 } }
}

extension AggregateOf where Result == Double? {
    /// The average; of nothing nil.
    public static func average<V>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(path, Aggregate.average, real)
    }
    /// How far the values lie from their average, as of a population; of nothing nil.
    public static func standardDeviation<V>(_ path: KeyPath<T, V>) -> AggregateOf {
        AggregateOf(path, Aggregate.standardDeviation, real)
    }
    /// The value in the middle, of an even number of values the average of the two in the middle; of nothing nil.
    public static func median<V>(_ path: KeyPath<T, V>) -> AggregateOf { AggregateOf(path, Aggregate.median, real) }

    @Sendable private static func real(_ value: Value, _ entity: Entity) -> Double? {
        if case .real(let real) = value { real } else { nil }
    }
}

extension AggregateOf {
    /// The least value; of nothing nil.
    public static func minimum<V: AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf where Result == V? {
        AggregateOf(path, Aggregate.minimum, value(path))
    }
    public static func minimum<V: AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf where Result == V? {
        AggregateOf(path, Aggregate.minimum, value(path))
    }
    /// The greatest value; of nothing nil.
    public static func maximum<V: AttributeValue>(_ path: KeyPath<T, V>) -> AggregateOf where Result == V? {
        AggregateOf(path, Aggregate.maximum, value(path))
    }
    public static func maximum<V: AttributeValue>(_ path: KeyPath<T, V?>) -> AggregateOf where Result == V? {
        AggregateOf(path, Aggregate.maximum, value(path))
    }

    private static func value<V: AttributeValue>(_ path: PartialKeyPath<T>) -> @Sendable (Value, Entity) throws -> V? {
        // A path that leads nowhere is told by `init`.
        guard let field = try? T._$properties.field(path) else { return { _, _ in nil } }
        return { value, entity in try ValueDecoder(entity).decode(value, field) }
    }
}

/// Makes Swift's values of a store's.
struct ValueDecoder {
    private let arena = RecordArena(capacity: 256)
    private let entity: Entity

    init(_ entity: Entity) { self.entity = entity }

    /// - Returns: nil for null.
    func decode<V: AttributeValue>(_ value: Value, _ field: FieldReference) throws -> V? {
        if value.isNull { return nil }
        // A record with this one field: then there is one way to read values, and not two.
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        try builder.set(entity.fields[field.ordinal], value)
        return try V.decodeAttribute(builder.finishedView(), field.ordinal)
    }
}

/// Objects with one value in an attribute, and what was worked out over them.
public struct QueryGroup<Key, Values> {
    public let key: Key
    public let values: Values
}

extension QueryGroup: Sendable where Key: Sendable, Values: Sendable {}
