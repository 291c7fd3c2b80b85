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

    init(_ node: Node) { self.node = node }

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

    /// True where the field equals one of the values; null values among them select nothing. Of no values it is false, and unknown where the field is null.
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
    public var depth: Int { depth(upTo: .max) }

    /// The same, but not past a limit: what exceeds it counts as one level, and nothing in it is visited.
    func depth(upTo limit: Int) -> Int {
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
