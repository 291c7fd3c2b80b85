/// A number, or another value, worked out over many objects.
public struct Aggregate: Sendable, Hashable {
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// How many objects; with a field, how many have a value in it.
        case count
        /// How many different values.
        case countDistinct = "count distinct"
        /// Of nothing it is 0. Of integers it is exact, or an error where it does not fit; of reals it is summed with twice their precision.
        case sum
        /// Always a real; null of nothing.
        case average
        /// The first value in the field's order; null of nothing.
        case minimum = "min"
        /// The last value in the field's order; null of nothing.
        case maximum = "max"
    }

    public let function: Function
    /// nil only for `count`.
    public let field: FieldReference?

    private init(_ function: Function, _ field: FieldReference?) {
        self.function = function
        self.field = field
    }

    /// How many objects.
    public static let count = Aggregate(.count, nil)
    public static func count(_ field: FieldReference) -> Aggregate { Aggregate(.count, field) }
    public static func countDistinct(_ field: FieldReference) -> Aggregate { Aggregate(.countDistinct, field) }
    public static func sum(_ field: FieldReference) -> Aggregate { Aggregate(.sum, field) }
    public static func average(_ field: FieldReference) -> Aggregate { Aggregate(.average, field) }
    public static func minimum(_ field: FieldReference) -> Aggregate { Aggregate(.minimum, field) }
    public static func maximum(_ field: FieldReference) -> Aggregate { Aggregate(.maximum, field) }
}

extension Aggregate: CustomStringConvertible {
    public var description: String { "\(function.rawValue)(\(field?.name ?? "*"))" }
}

/// Aggregates over what a predicate selects, for each group of objects with equal values in some fields. Null values are left out of every
/// aggregate but `count` of objects; as a group they are one.
public struct AggregateRequest: Sendable, Hashable {
    public var entity: Entity
    public var predicate: QueryPredicate
    /// Without any there is exactly one group, even of nothing.
    public var groupBy: [FieldReference]
    public var aggregates: [Aggregate]
    /// See ``FetchRequest/ignoresIndexes``.
    public var ignoresIndexes = false

    public init(_ entity: Entity, predicate: QueryPredicate = .all, groupBy: [FieldReference] = [], aggregates: [Aggregate]) {
        self.entity = entity
        self.predicate = predicate
        self.groupBy = groupBy
        self.aggregates = aggregates
    }

    /// The fetch that gives the rows, with the fields that are needed and no others.
    public var source: FetchRequest {
        var fields = FieldMask()
        for field in groupBy + aggregates.compactMap(\.field) where !field.isObjectID { fields.insert(field.ordinal) }
        var request = FetchRequest(entity, predicate: predicate, fields: fields)
        request.ignoresIndexes = ignoresIndexes
        return request
    }

    /// Checks what a caller can get wrong.
    /// - Throws: `invalidPredicate`.
    public func validate() throws {
        try source.validate()
        for field in groupBy { try entity.check(field) }
        for aggregate in aggregates {
            guard let field = aggregate.field else { continue }
            try entity.check(field)
            guard aggregate.function == .sum || aggregate.function == .average else { continue }
            switch field.type {
            case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double: break
            default:
                throw StoreError(
                    .invalidPredicate, "\(aggregate.function.rawValue) needs numbers, and \(field.name) is \(field.type).",
                    entity: entity.name, attribute: field.name)
            }
        }
    }
}

/// One group of the answer to an ``AggregateRequest``.
public struct AggregateRow: Sendable, Hashable {
    /// A value for each field of ``AggregateRequest/groupBy``.
    public var group: [Value]
    /// A value for each of ``AggregateRequest/aggregates``.
    public var values: [Value]

    public init(group: [Value], values: [Value]) {
        self.group = group
        self.values = values
    }
}
