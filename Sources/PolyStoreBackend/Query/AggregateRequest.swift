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
        /// How far the values lie from their average: the root of the average of the squared differences (of a population, as Core Data and
        /// SQL's `STDDEV_POP` have it). Always a real; null of nothing, 0 of one value, NaN where a value is NaN or infinite. Of integers
        /// the squares are summed exactly; of reals with twice their precision, so that the order of the rows can show in the last digit only.
        case standardDeviation = "stddev"
        /// The value in the middle; of an even number of values the average of the two in the middle. Always a real; null of nothing, NaN
        /// where a value is NaN. Keeps all values of a group in memory.
        case median

        /// Whether it is of numbers only.
        public var needsNumbers: Bool {
            switch self {
            case .sum, .average, .standardDeviation, .median: true
            case .count, .countDistinct, .minimum, .maximum: false
            }
        }
    }

    public let function: Function
    /// What it is worked out of; nil only for a `count` of objects.
    public let operand: QueryExpression?
    /// Whether ``operand``, which is a count or an aggregate over a to-many relationship, stands for the values that it is over, one by one, and
    /// not for the one value that it makes of them: the average age of all friends of all people, and not of the people's averages.
    public let isOverMembers: Bool

    /// The operand, where it is nothing but a field.
    public var field: FieldReference? { operand?.asField }

    private init(_ function: Function, _ operand: QueryExpression?, isOverMembers: Bool = false) {
        self.function = function
        self.operand = operand
        self.isOverMembers = isOverMembers
    }

    private init(_ function: Function, _ field: FieldReference) { self.init(function, .field(field)) }

    /// How many objects.
    public static let count = Aggregate(.count, nil)
    public static func count(_ field: FieldReference) -> Aggregate { Aggregate(.count, field) }
    public static func countDistinct(_ field: FieldReference) -> Aggregate { Aggregate(.countDistinct, field) }
    public static func sum(_ field: FieldReference) -> Aggregate { Aggregate(.sum, field) }
    public static func average(_ field: FieldReference) -> Aggregate { Aggregate(.average, field) }
    public static func minimum(_ field: FieldReference) -> Aggregate { Aggregate(.minimum, field) }
    public static func maximum(_ field: FieldReference) -> Aggregate { Aggregate(.maximum, field) }
    public static func standardDeviation(_ field: FieldReference) -> Aggregate { Aggregate(.standardDeviation, field) }
    public static func median(_ field: FieldReference) -> Aggregate { Aggregate(.median, field) }

    /// Of a value worked out for each object. If that is more than a field, ``ReadTransaction/groups(_:)`` works it out, and no backend meets it.
    public static func of(_ function: Function, _ expression: QueryExpression) -> Aggregate { Aggregate(function, expression) }

    /// Of the values that a collection aggregate is over, of all objects; see ``isOverMembers``.
    /// - Parameter collection: a count or an aggregate over a to-many relationship, which to-one relationships may lead to.
    public static func overMembers(_ function: Function, _ collection: QueryExpression) -> Aggregate {
        Aggregate(function, collection, isOverMembers: collection.memberType != nil)
    }

    /// The type of the answer.
    public var type: AttributeType {
        function.type(of: (isOverMembers ? operand?.memberType : operand?.type) ?? .int64)
    }

    /// Whether every backend knows what to do: whether it is of objects or of a field.
    public var isPlain: Bool { operand == nil || field != nil }
}

extension Aggregate: CustomStringConvertible {
    public var description: String {
        "\(function.rawValue)(\(operand.map { isOverMembers ? $0.memberDescription : $0.description } ?? "*"))"
    }
}

/// Aggregates over what a predicate selects, for each group of objects with equal values in some fields. Null values are left out of every
/// aggregate but `count` of objects; as a group they are one.
///
/// What backends are asked: groups and operands are fields. ``GroupRequest`` may ask for more, and leaves this much of it to them. More functions
/// may come with new versions: what a backend does not know it leaves to an ``AggregateEvaluator``, in a `default:`.
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
            guard aggregate.isPlain else {
                throw StoreError(
                    .misuse, "\(aggregate) is more than a function of a field; ask for it by a GroupRequest.", entity: entity.name)
            }
            try aggregate.validate(for: entity)
        }
    }
}

extension Aggregate {
    /// - Throws: `invalidPredicate`.
    func validate(for entity: Entity) throws {
        guard let operand else { return }
        try operand.validate(for: entity)
        guard let type = isOverMembers ? operand.memberType : operand.type, function.needsNumbers, !type.isNumber else { return }
        let name = isOverMembers ? operand.memberDescription : operand.description
        throw StoreError(
            .invalidPredicate, "\(function.rawValue) needs numbers, and \(name) is \(type).", entity: entity.name, attribute: field?.name)
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
