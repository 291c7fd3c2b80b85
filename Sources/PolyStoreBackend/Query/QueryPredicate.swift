/// What a query compares: a field of the record, or the object's id.
public struct FieldReference: Sendable, Hashable {
    /// The field's ordinal, or -1 for the id.
    public let ordinal: Int
    public let name: String
    public let type: AttributeType

    public init(_ field: Field) {
        ordinal = field.ordinal
        name = field.name
        type = field.type
    }

    /// For a field whose place is known without a resolved schema.
    public init(ordinal: Int, name: String, type: AttributeType) {
        self.ordinal = ordinal
        self.name = name
        self.type = type
    }

    public static let objectID = FieldReference(ordinal: -1, name: "objectID", type: .int64)

    public var isObjectID: Bool { ordinal < 0 }
    /// Whether integers are compared without sign.
    public var isUnsigned: Bool { type == .uint64 }
}

public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// The same question with both sides changed over.
    public var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Whether an order (negative, 0, positive) satisfies it.
    @inlinable
    public func accepts(_ order: Int) -> Bool {
        switch self {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }
}

public enum TextOperator: String, Sendable, Hashable, CaseIterable {
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    /// `?` is one Unicode scalar, `*` any number of them, a backslash takes what follows as it is.
    case like = "LIKE"
    /// A regular expression that the whole text satisfies.
    case matches = "MATCHES"
}

/// Which of the objects that a relationship leads to must satisfy a condition.
public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// The only one of a to-one relationship: unknown where there is none, or where the condition is.
    case one = "ONE"
    /// At least one; of none it is false. Never unknown.
    case any = "ANY"
    /// Each; of none it is true. Never unknown.
    case all = "ALL"
}

/// A condition on the objects of one entity, in a closed form: resolved fields, typed constants, no closure, no key path.
///
/// Truth has three values. A comparison with a null field or a null constant is *unknown*, `!` keeps it unknown, and only what is
/// true is selected; `isNull` alone answers about null. Constants are of the field's physical type. Text compares by UTF-8 bytes.
public struct QueryPredicate: Sendable, Hashable {
    /// The node. More cases come with new versions: a backend handles what it knows and leaves the rest, in a `default:`, to the
    /// shared evaluator (see ``Scan/remainder``).
    public indirect enum Node: Sendable, Hashable {
        case constant(Bool)
        case compare(FieldReference, ComparisonOperator, Value)
        case compareFields(FieldReference, ComparisonOperator, FieldReference)
        case isNull(FieldReference)
        case oneOf(FieldReference, [Value])
        case text(FieldReference, TextOperator, String)
        case compareExpressions(QueryExpression, ComparisonOperator, QueryExpression)
        case isNullExpression(QueryExpression)
        case expressionOneOf(QueryExpression, [Value])
        case textExpressions(QueryExpression, TextOperator, QueryExpression)
        /// Of the objects that a relationship leads to.
        case related(RelationshipReference, Quantifier, QueryPredicate)
        case and([QueryPredicate])
        case or([QueryPredicate])
        case not(QueryPredicate)
    }

    public let node: Node

    private init(_ node: Node) { self.node = node }

    /// Selects everything.
    public static let all = QueryPredicate(.constant(true))
    /// Selects nothing.
    public static let none = QueryPredicate(.constant(false))

    public static func constant(_ value: Bool) -> QueryPredicate { value ? all : none }

    public static func compare(_ field: FieldReference, _ comparison: ComparisonOperator, _ value: Value) -> QueryPredicate {
        QueryPredicate(.compare(field, comparison, value))
    }

    public static func compare(_ left: FieldReference, _ comparison: ComparisonOperator, _ right: FieldReference) -> QueryPredicate {
        QueryPredicate(.compareFields(left, comparison, right))
    }

    public static func isNull(_ field: FieldReference) -> QueryPredicate { QueryPredicate(.isNull(field)) }

    /// True where the field equals one of the values; null values among them select nothing.
    public static func oneOf(_ field: FieldReference, _ values: [Value]) -> QueryPredicate { QueryPredicate(.oneOf(field, values)) }

    /// By bytes, case-sensitive. Every text contains the empty text.
    public static func text(_ field: FieldReference, _ operation: TextOperator, _ value: String) -> QueryPredicate {
        if operation == .like, let simple = LikePattern(value).simple {
            return simple.operation.map { QueryPredicate(.text(field, $0, simple.text)) } ?? .compare(field, .equal, .text(simple.text))
        }
        return QueryPredicate(.text(field, operation, value))
    }

    /// Of the objects that a relationship leads to.
    public static func related(
        _ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate
    ) -> QueryPredicate {
        QueryPredicate(.related(relationship, quantifier, predicate))
    }

    // MARK: Of expressions, in the simplest form that says the same

    public static func compare(_ left: QueryExpression, _ comparison: ComparisonOperator, _ right: QueryExpression) -> QueryPredicate {
        switch (left.node, right.node) {
        case (.constant, .field), (.constant, .related): return compare(right, comparison.mirrored, left)
        case (.field(let field), .constant(let value)) where value.isNull || right.type.writes(value, asIn: field):
            return compare(field, comparison, value)
        case (.field(let first), .field(let second))
        where first.type.physical == second.type.physical && first.isUnsigned == second.isUnsigned:
            return compare(first, comparison, second)
        case (.related(let relationship, let inner), .constant):
            return related(relationship, .one, compare(inner, comparison, right))
        case (.count(let relationship, let condition), _):
            return quantified(relationship, condition, comparison, right) ?? QueryPredicate(.compareExpressions(left, comparison, right))
        default: return QueryPredicate(.compareExpressions(left, comparison, right))
        }
    }

    /// Numbers of objects that need not be counted: none, at least one, all.
    private static func quantified(
        _ relationship: RelationshipReference, _ condition: QueryPredicate, _ comparison: ComparisonOperator, _ number: QueryExpression
    ) -> QueryPredicate? {
        switch (comparison, number.node) {
        case (.greater, .constant(.integer(0))), (.notEqual, .constant(.integer(0))), (.greaterOrEqual, .constant(.integer(1))):
            return related(relationship, .any, condition)
        case (.equal, .constant(.integer(0))), (.lessOrEqual, .constant(.integer(0))), (.less, .constant(.integer(1))):
            return not(related(relationship, .any, condition))
        case (.equal, .count(relationship, .all)): return related(relationship, .all, condition)
        default: return nil
        }
    }

    public static func isNull(_ expression: QueryExpression) -> QueryPredicate {
        switch expression.node {
        case .field(let field): isNull(field)
        case .related(let relationship, let inner):
            // Missing, too, where there is nobody who could have it.
            relationship.foreignKey.map { or([isNull($0), related(relationship, .one, isNull(inner))]) }
                ?? QueryPredicate(.isNullExpression(expression))
        default: QueryPredicate(.isNullExpression(expression))
        }
    }

    public static func oneOf(_ expression: QueryExpression, _ values: [Value]) -> QueryPredicate {
        switch expression.node {
        case .field(let field): oneOf(field, values)
        case .related(let relationship, let inner): related(relationship, .one, oneOf(inner, values))
        default: QueryPredicate(.expressionOneOf(expression, values))
        }
    }

    public static func text(_ left: QueryExpression, _ operation: TextOperator, _ right: QueryExpression) -> QueryPredicate {
        switch (left.node, right.node) {
        case (.field(let field), .constant(.text(let value))): text(field, operation, value)
        case (.related(let relationship, let inner), .constant): related(relationship, .one, text(inner, operation, right))
        default: QueryPredicate(.textExpressions(left, operation, right))
        }
    }

    public static func and(_ parts: [QueryPredicate]) -> QueryPredicate {
        let parts = parts.flatMap { part in if case .and(let inner) = part.node { inner } else { [part] } }.filter { $0 != all }
        if parts.contains(none) { return none }
        return parts.isEmpty ? all : (parts.count == 1 ? parts[0] : QueryPredicate(.and(parts)))
    }

    public static func or(_ parts: [QueryPredicate]) -> QueryPredicate {
        let parts = parts.flatMap { part in if case .or(let inner) = part.node { inner } else { [part] } }.filter { $0 != none }
        if parts.contains(all) { return all }
        return parts.isEmpty ? none : (parts.count == 1 ? parts[0] : QueryPredicate(.or(parts)))
    }

    public static func not(_ part: QueryPredicate) -> QueryPredicate {
        if case .constant(let value) = part.node { return constant(!value) }
        return QueryPredicate(.not(part))
    }

    /// The parts that must all be true.
    public var conjuncts: [QueryPredicate] {
        switch node {
        case .and(let parts): parts
        case .constant(true): []
        default: [self]
        }
    }

    /// Whether other objects than the one it is asked of have to be looked at.
    public var needsRelated: Bool {
        switch node {
        case .constant, .compare, .compareFields, .isNull, .oneOf, .text: false
        case .related: true
        case .compareExpressions(let left, _, let right), .textExpressions(let left, _, let right): left.needsRelated || right.needsRelated
        case .isNullExpression(let expression), .expressionOneOf(let expression, _): expression.needsRelated
        case .and(let parts), .or(let parts): parts.contains { $0.needsRelated }
        case .not(let part): part.needsRelated
        }
    }

    /// How deeply it is nested; a limit keeps hostile input from exhausting the stack.
    public var depth: Int {
        switch node {
        case .and(let parts), .or(let parts): 1 + (parts.map(\.depth).max() ?? 0)
        case .not(let part), .related(_, _, let part): 1 + part.depth
        case .compareExpressions(let left, _, let right), .textExpressions(let left, _, let right): 1 + max(left.depth, right.depth)
        case .isNullExpression(let expression), .expressionOneOf(let expression, _): 1 + expression.depth
        default: 1
        }
    }
}

extension QueryPredicate {
    /// Adds the fields that it looks at.
    public func collectFields(into mask: inout FieldMask) {
        func add(_ field: FieldReference) { if !field.isObjectID { mask.insert(field.ordinal) } }
        switch node {
        case .constant: break
        case .compare(let field, _, _), .isNull(let field), .oneOf(let field, _), .text(let field, _, _): add(field)
        case .compareFields(let left, _, let right):
            add(left)
            add(right)
        case .compareExpressions(let left, _, let right), .textExpressions(let left, _, let right):
            left.collectFields(into: &mask)
            right.collectFields(into: &mask)
        case .isNullExpression(let expression), .expressionOneOf(let expression, _): expression.collectFields(into: &mask)
        case .related(let relationship, _, _): if let key = relationship.foreignKey { add(key) }
        case .and(let parts), .or(let parts): for part in parts { part.collectFields(into: &mask) }
        case .not(let part): part.collectFields(into: &mask)
        }
    }
}

extension QueryPredicate: CustomStringConvertible {
    /// For people and for `explain`; never parsed, never sent to an engine.
    public var description: String {
        switch node {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let field, let comparison, let value): "\(field.name) \(comparison.rawValue) \(value.literal)"
        case .compareFields(let left, let comparison, let right): "\(left.name) \(comparison.rawValue) \(right.name)"
        case .isNull(let field): "\(field.name) == NULL"
        case .oneOf(let field, let values): "\(field.name) IN {\(values.map(\.literal).joined(separator: ", "))}"
        case .text(let field, let operation, let value): "\(field.name) \(operation.rawValue) \(Value.text(value).literal)"
        case .compareExpressions(let left, let comparison, let right): "\(left) \(comparison.rawValue) \(right)"
        case .isNullExpression(let expression): "\(expression) == NULL"
        case .expressionOneOf(let expression, let values): "\(expression) IN {\(values.map(\.literal).joined(separator: ", "))}"
        case .textExpressions(let left, let operation, let right): "\(left) \(operation.rawValue) \(right)"
        case .related(let relationship, let quantifier, let part): "\(quantifier.rawValue) \(relationship.name) (\(part))"
        case .and(let parts): "(" + parts.map(\.description).joined(separator: " AND ") + ")"
        case .or(let parts): "(" + parts.map(\.description).joined(separator: " OR ") + ")"
        case .not(let part): "NOT \(part)"
        }
    }
}

extension AttributeType {
    /// Whether a constant of this type stands for the same value where a field's type is assumed: not a number above 2^63 − 1 for a signed field, nor
    /// one below 0 for an unsigned one.
    fileprivate func writes(_ value: Value, asIn field: FieldReference) -> Bool {
        guard value.fits(field.type) else { return false }
        if case .integer(let integer) = value, (self == .uint64) != field.isUnsigned { return integer >= 0 }
        return true
    }
}

extension Value {
    /// Whether a field of a type can hold it, as far as the physical type goes. Null fits every type.
    public func fits(_ type: AttributeType) -> Bool {
        switch (self, type.physical) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        default: false
        }
    }

    /// As a person would write it; long text and data are cut.
    public var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): "\"\(value.count > 60 ? value.prefix(60) + "…" : value[...])\""
        case .blob(let value): "<\(value.count) bytes>"
        }
    }
}
