import PolyStoreBackend

/// An unresolved condition: names are not looked up yet, and constants do not have the type of the value they are compared with.
///
/// Format strings (``init(format:arguments:variables:)``), keys, dictionaries, key paths of more than one step and Foundation's predicates are
/// all converted to this type. ``resolved(for:in:)`` looks up the names, converts the constants and returns the form that stores evaluate. The
/// semantics of each operator are in `docs/query-language.md`.
package indirect enum Condition: Sendable, Hashable {
    case constant(Bool)
    case comparison(Comparison)
    case and([Condition])
    case or([Condition])
    case not(Condition)
    /// A condition that is already resolved, from key paths. Its fields belong to the fetched entity.
    case resolved(QueryPredicate)

    /// Returns a range condition.
    package static func within(
        _ value: Operand, _ range: (low: Operand?, high: Operand?, includesHigh: Bool), modifier: Comparison.Modifier = .direct
    ) -> Condition {
        .comparison(
            Comparison(value, .between, .range(low: range.low, high: range.high, includesHigh: range.includesHigh), modifier: modifier))
    }
}

/// One side of a comparison.
package indirect enum Operand: Sendable, Hashable {
    case path(PropertyPath)
    /// A constant with its original type. The type of null is irrelevant.
    case constant(Value, AttributeType)
    /// An object, identified by entity and row id.
    ///
    /// `store` is the id of the store that holds the object. In a condition for another store, the object is not equal to any object. If nil, only row
    /// ids are compared.
    case object(entity: String, id: Int64, store: String? = nil)
    case list([Operand])
    /// A range of values, for `IN` and `BETWEEN`. A nil bound leaves that side open.
    case range(low: Operand?, high: Operand?, includesHigh: Bool)
    case arithmetic(ArithmeticOperator, Operand, Operand)
    /// An aggregate of the objects at the end of a path that satisfy a condition, in which a variable refers to the object:
    /// `SUBQUERY(friends, $f, $f.age > 30).@count`, or `.@max.age`. `keys` are the keys after the closing parenthesis.
    case subquery(PropertyPath, variable: String, Condition, keys: [String] = ["@count"])
    /// A function of one or two operands: `modulus:by:(age, 2)`, `length(name)`.
    case function(ScalarFunction, [Operand])
    /// A part of a date, in a time zone that is not looked up yet: `year(born)`, `hour(started, "+05:30")`. Without a zone, in UTC.
    case datePart(DatePart, Operand, zone: String? = nil)
    /// `TERNARY(age > 17, fee, 0)`: the first value if the condition is true, otherwise the second.
    case conditional(Condition, Operand, Operand)
    /// A function of the values of all objects of a group; nil for the objects themselves.
    case aggregate(Aggregate.Function, Operand?)
    /// A type conversion: `CAST(born, 'NSNumber')`.
    case cast(Operand, AttributeType)
    /// The time at which the condition is evaluated.
    case now
    /// The right side of a search whose mistakes are errors. What a user typed is a constant text.
    case query(String)
    /// The score of a full-text search: `SCORE(SEARCH "lazy dog")`. The condition is a search without a modifier.
    case score(Condition)

    /// The null constant.
    package static let null = Operand.constant(.null, .int64)
}

/// A path of keys joined by dots.
///
/// `"[0]"`, `"[LAST]"` and the like are positions in an ordered relationship. Keys can be collection operators: `friends.@count`, `friends.@avg.age`.
/// `SELF` and `objectID` alone are the object itself. Keys after a JSON attribute are those of nested objects in the JSON.
package struct PropertyPath: Sendable, Hashable {
    /// The variable that the path starts from in a subquery, without its dollar sign; nil for the fetched object.
    package var variable: String?
    /// The keys; empty for the object itself.
    package var keys: [String]
    /// The location in the format string.
    package var location: FormatLocation
    /// The type of a value within a JSON attribute; nil for other values, and if the path does not state it.
    package var type: AttributeType?

    /// The beginning of the variables of closures of columns. No variable of a format string begins with it.
    package static let closurePrefix = "related-"

    /// Creates a path of keys.
    package init(_ keys: [String], variable: String? = nil, location: FormatLocation = .none, type: AttributeType? = nil) {
        self.variable = variable
        self.keys = keys
        self.location = location
        self.type = type
    }
}
