/// A value computed over many objects.
public struct Aggregate: Sendable, Hashable {
    /// An aggregate function. Null values are ignored.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// The number of objects; with a field, the number of objects whose field is not null.
        case count
        /// The number of distinct values.
        case countDistinct = "count distinct"
        /// The sum; 0 for no values. Sums of integers and decimals are exact and throw on overflow. Reals are summed with twice their precision. The sum of
        /// Booleans is the number of true values.
        case sum
        /// The average; null for no values. The average of decimals is a decimal of up to 38 digits, of all other types a real.
        case average
        /// The least value in the order of the type; null for no values.
        case minimum = "min"
        /// The greatest value in the order of the type; null for no values.
        case maximum = "max"
        /// The population standard deviation, as in Core Data and in SQL's `STDDEV_POP`. Always a real; null for no values, 0 for one value, NaN if a
        /// value is NaN or infinite. Squares of integers are summed exactly, those of reals with twice their precision, so that the order of the
        /// rows affects at most the last digit.
        case standardDeviation = "stddev"
        /// The median; for an even number of values, the average of the two middle values. Always a real; null for no values, NaN if a value is NaN.
        /// Keeps all values of a group in memory.
        case median
        /// The most frequent value; of several equally frequent values the least, in the order of the type. Null for no values. Keeps the distinct values of a
        /// group in memory.
        case mode

        /// Returns whether the function accepts values of a type.
        public func accepts(_ type: AttributeType) -> Bool {
            switch self {
            case .sum, .average: type.isNumber || type == .decimal || type == .bool
            case .standardDeviation, .median: type.isNumber
            case .count, .countDistinct, .minimum, .maximum, .mode: true
            }
        }
    }

    /// The function.
    public let function: Function
    /// The aggregated expression; nil only for a `count` of objects.
    public let operand: QueryExpression?
    /// A Boolean value that indicates whether the function is applied to the values of the related objects of all objects, instead of one result per object.
    /// ``operand`` is then a count or an aggregate over a to-many relationship. Example: the average age of all friends of all people, not the average of
    /// averages.
    public let isOverMembers: Bool

    /// The operand if it is a plain field; otherwise nil.
    public var field: FieldReference? { operand?.asField }

    private init(_ function: Function, _ operand: QueryExpression?, isOverMembers: Bool = false) {
        self.function = function
        self.operand = operand
        self.isOverMembers = isOverMembers
    }

    private init(_ function: Function, _ field: FieldReference) { self.init(function, .field(field)) }

    /// The number of objects.
    public static let count = Aggregate(.count, nil)
    /// The number of objects whose field is not null.
    public static func count(_ field: FieldReference) -> Aggregate { Aggregate(.count, field) }
    /// The number of distinct values of a field.
    public static func countDistinct(_ field: FieldReference) -> Aggregate { Aggregate(.countDistinct, field) }
    /// The sum of a field.
    public static func sum(_ field: FieldReference) -> Aggregate { Aggregate(.sum, field) }
    /// The average of a field.
    public static func average(_ field: FieldReference) -> Aggregate { Aggregate(.average, field) }
    /// The minimum of a field.
    public static func minimum(_ field: FieldReference) -> Aggregate { Aggregate(.minimum, field) }
    /// The maximum of a field.
    public static func maximum(_ field: FieldReference) -> Aggregate { Aggregate(.maximum, field) }
    /// The population standard deviation of a field.
    public static func standardDeviation(_ field: FieldReference) -> Aggregate { Aggregate(.standardDeviation, field) }
    /// The median of a field.
    public static func median(_ field: FieldReference) -> Aggregate { Aggregate(.median, field) }
    /// The mode of a field: its most frequent value.
    public static func mode(_ field: FieldReference) -> Aggregate { Aggregate(.mode, field) }

    /// Returns an aggregate of an expression.
    public static func of(_ function: Function, _ expression: QueryExpression) -> Aggregate { Aggregate(function, expression) }

    /// Returns an aggregate of the values that a collection aggregate covers, over all objects; see ``isOverMembers``.
    /// - Parameters:
    ///   - function: The function that combines the values of all objects.
    ///   - collection: A count or an aggregate over a to-many relationship, optionally at the end of a path of to-one relationships.
    public static func overMembers(_ function: Function, _ collection: QueryExpression) -> Aggregate {
        Aggregate(function, collection, isOverMembers: collection.memberType != nil)
    }

    /// The type of the result.
    public var type: AttributeType {
        function.type(of: (isOverMembers ? operand?.memberType : operand?.type) ?? .int64)
    }

    /// A Boolean value that indicates whether the aggregate covers objects or a field, and not another expression.
    public var isPlain: Bool { operand == nil || field != nil }
}

extension Aggregate: CustomStringConvertible {
    /// The aggregate in readable form, for errors and query plans.
    public var description: String {
        "\(function.rawValue)(\(operand.map { isOverMembers ? $0.memberDescription : $0.description } ?? "*"))"
    }
}

extension Aggregate {
    /// - Throws: `invalidPredicate`.
    package func validate(for entity: Entity) throws {
        guard let operand else { return }
        try operand.validate(for: entity)
        guard let type = isOverMembers ? operand.memberType : operand.type, !function.accepts(type) else { return }
        let name = isOverMembers ? operand.memberDescription : operand.description
        throw StoreError(
            .invalidPredicate, "\(function.rawValue) needs numbers, and \(name) is \(type).", entity: entity.name, attribute: field?.name)
    }
}

extension Aggregate.Function {
    /// Returns the type of the result.
    public func type(of operand: AttributeType) -> AttributeType {
        switch self {
        case .count, .countDistinct: .int64
        case .sum where operand == .decimal, .average where operand == .decimal: .decimal
        case .average, .standardDeviation, .median: .double
        case .sum: operand.physical == .real ? .double : (operand == .uint64 ? .uint64 : .int64)
        case .minimum, .maximum, .mode: operand
        }
    }
}
