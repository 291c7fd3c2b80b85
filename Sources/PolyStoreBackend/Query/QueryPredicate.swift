/// A reference to a field of the record or to the object's id.
public struct FieldReference: Sendable, Hashable {
    /// The field index, or -1 for the id.
    public let ordinal: Int
    /// The name of the field.
    public let name: String
    /// The type of the field.
    public let type: AttributeType

    /// Creates a reference to a field of a resolved schema.
    public init(_ field: Field) {
        ordinal = field.ordinal
        name = field.name
        type = field.type
    }

    /// Creates a reference to a field whose index is known without a resolved schema.
    public init(ordinal: Int, name: String, type: AttributeType) {
        self.ordinal = ordinal
        self.name = name
        self.type = type
    }

    /// The object's id.
    public static let objectID = FieldReference(ordinal: -1, name: "objectID", type: .int64)

    /// A Boolean value that indicates whether the reference is to the object's id.
    public var isObjectID: Bool { ordinal < 0 }
    /// A Boolean value that indicates whether integers are compared as unsigned.
    public var isUnsigned: Bool { type == .uint64 }
}

/// A comparison operator, with its spelling in format strings.
public enum ComparisonOperator: String, Sendable, Hashable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// The operator for exchanged sides: `<` for `>`.
    public var mirrored: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// Returns whether an order (negative, 0, positive) satisfies the operator.
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

/// A text comparison operator, with its spelling in format strings.
public enum TextOperator: String, Sendable, Hashable, CaseIterable {
    case contains = "CONTAINS"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    /// Wildcard match: `?` matches one Unicode scalar, `*` any number of them, a backslash escapes the next character.
    case like = "LIKE"
    /// Regular expression match against the whole text.
    case matches = "MATCHES"
}

/// A quantifier over the destination objects of a relationship.
public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// The destination of a to-one relationship. Unknown if the relationship is null or the condition is unknown.
    case one = "ONE"
    /// At least one object; false for an empty relationship. Never unknown.
    case any = "ANY"
    /// Every object; true for an empty relationship. Never unknown.
    case all = "ALL"
}

/// A condition on the objects of one entity, in resolved form: field references and typed constants, without closures or key paths.
///
/// Conditions use three-valued logic. A comparison with a null field or a null constant is *unknown*, and so is its negation. Only objects for which the
/// predicate is true are selected. `isNull` is never unknown. Constants have the field's physical type. Text is compared by its UTF-8 bytes.
public struct QueryPredicate: Sendable, Hashable {
    /// The kind of condition. New versions may add cases: a backend leaves cases that it does not know to the shared evaluator, in a `default:` (see
    /// ``Scan/remainder``).
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
        /// A condition on the destination objects of a relationship.
        case related(RelationshipReference, Quantifier, QueryPredicate)
        case and([QueryPredicate])
        case or([QueryPredicate])
        case not(QueryPredicate)
    }

    /// The kind of condition, with its operands.
    public let node: Node

    init(_ node: Node) { self.node = node }

    /// The predicate that selects every object.
    public static let all = QueryPredicate(.constant(true))
    /// The predicate that selects no object.
    public static let none = QueryPredicate(.constant(false))

    /// Returns ``all`` for true and ``none`` for false.
    public static func constant(_ value: Bool) -> QueryPredicate { value ? all : none }

    /// Returns a comparison of a field with a constant.
    public static func compare(_ field: FieldReference, _ comparison: ComparisonOperator, _ value: Value) -> QueryPredicate {
        QueryPredicate(.compare(field, comparison, value))
    }

    /// Returns a comparison of two fields.
    public static func compare(_ left: FieldReference, _ comparison: ComparisonOperator, _ right: FieldReference) -> QueryPredicate {
        QueryPredicate(.compareFields(left, comparison, right))
    }

    /// Returns a test for null.
    public static func isNull(_ field: FieldReference) -> QueryPredicate { QueryPredicate(.isNull(field)) }

    /// Returns a membership test. Null values in the list select nothing. For an empty list the result is false, or unknown if the field is null.
    public static func oneOf(_ field: FieldReference, _ values: [Value]) -> QueryPredicate { QueryPredicate(.oneOf(field, values)) }

    /// Returns a text comparison by bytes, case-sensitive. Every text contains the empty text.
    public static func text(_ field: FieldReference, _ operation: TextOperator, _ value: String) -> QueryPredicate {
        if operation == .like, let simple = LikePattern(value).simple {
            return simple.operation.map { QueryPredicate(.text(field, $0, simple.text)) } ?? .compare(field, .equal, .text(simple.text))
        }
        return QueryPredicate(.text(field, operation, value))
    }

    /// Returns a condition on the destination objects of a relationship.
    public static func related(
        _ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate
    ) -> QueryPredicate {
        QueryPredicate(.related(relationship, quantifier, predicate))
    }

    /// Returns the conjunction of predicates.
    public static func and(_ parts: [QueryPredicate]) -> QueryPredicate {
        let parts = parts.flatMap { part in if case .and(let inner) = part.node { inner } else { [part] } }.filter { $0 != all }
        if parts.contains(none) { return none }
        return parts.isEmpty ? all : (parts.count == 1 ? parts[0] : QueryPredicate(.and(parts)))
    }

    /// Returns the disjunction of predicates.
    public static func or(_ parts: [QueryPredicate]) -> QueryPredicate {
        let parts = parts.flatMap { part in if case .or(let inner) = part.node { inner } else { [part] } }.filter { $0 != none }
        if parts.contains(all) { return all }
        return parts.isEmpty ? none : (parts.count == 1 ? parts[0] : QueryPredicate(.or(parts)))
    }

    /// Returns the negation of a predicate.
    public static func not(_ part: QueryPredicate) -> QueryPredicate {
        if case .constant(let value) = part.node { return constant(!value) }
        return QueryPredicate(.not(part))
    }

    /// The parts of a conjunction; the predicate itself if it is another condition.
    public var conjuncts: [QueryPredicate] {
        switch node {
        case .and(let parts): parts
        case .constant(true): []
        default: [self]
        }
    }

    /// A Boolean value that indicates whether the predicate refers to related objects.
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

    /// The nesting depth. It is limited so that untrusted input cannot exhaust the stack.
    public var depth: Int { depth(upTo: .max) }

    /// Returns the nesting depth up to a limit. Parts beyond the limit are not visited and count as one level.
    package func depth(upTo limit: Int) -> Int {
        guard limit > 1 else { return 1 }
        let rest = limit - 1
        return switch node {
        case .and(let parts), .or(let parts): 1 + (parts.lazy.map { $0.depth(upTo: rest) }.max() ?? 0)
        case .not(let part), .related(_, _, let part): 1 + part.depth(upTo: rest)
        case .compareExpressions(let left, _, let right), .textExpressions(let left, _, let right):
            1 + max(left.depth(upTo: rest), right.depth(upTo: rest))
        case .isNullExpression(let expression), .expressionOneOf(let expression, _): 1 + expression.depth(upTo: rest)
        default: 1
        }
    }
}

extension QueryPredicate {
    /// Adds the fields that the predicate refers to.
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
        case .related(let relationship, _, let part):
            if let key = relationship.foreignKey { add(key) }
            part.collectOuterFields(1, into: &mask)
        case .and(let parts), .or(let parts): for part in parts { part.collectFields(into: &mask) }
        case .not(let part): part.collectFields(into: &mask)
        }
    }
}
