/// A condition on the objects of one entity, in resolved form: field references and typed constants, without closures or key paths.
///
/// Conditions use three-valued logic. A comparison with a null field or a null constant is *unknown*, and so is its negation. Only objects for which the
/// predicate is true are selected. `isNull` is never unknown. Constants have the field's physical type. Text is compared by its UTF-8 bytes.
public struct QueryPredicate: Sendable, Hashable {
    /// The kind of condition. New versions may add cases: a backend leaves cases that it does not know to the shared evaluator, in a `default:` (see
    /// ``Scan/residual``).
    public indirect enum Node: Sendable, Hashable {
        /// True or false for every object.
        case constant(Bool)
        /// A comparison of two values. Unknown if one of them is null. See ``QueryPredicate/fieldCondition`` for a field and a constant.
        case compare(QueryExpression, ComparisonOperator, QueryExpression)
        /// A test whether a value is null. Never unknown.
        case isNull(QueryExpression)
        /// A test whether a value equals one of several constants. Unknown if the value is null. Null constants select nothing.
        case oneOf(QueryExpression, [Value])
        /// A comparison of two texts, by bytes. Unknown if one of them is null.
        case text(QueryExpression, TextOperator, QueryExpression)
        /// A condition on the destination objects of a relationship.
        case related(RelationshipReference, Quantifier, QueryPredicate)
        /// A full-text search in the texts of the object. Never unknown.
        case search(SearchCondition)
        /// The conjunction: false if one predicate is false, otherwise unknown if one is unknown.
        case and([QueryPredicate])
        /// The disjunction: true if one predicate is true, otherwise unknown if one is unknown.
        case or([QueryPredicate])
        /// The negation. Unknown stays unknown.
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
        QueryPredicate(.compare(.field(field), comparison, .constant(value, field.type)))
    }

    /// Returns a comparison of two fields.
    public static func compare(_ left: FieldReference, _ comparison: ComparisonOperator, _ right: FieldReference) -> QueryPredicate {
        QueryPredicate(.compare(.field(left), comparison, .field(right)))
    }

    /// Returns a test for null.
    public static func isNull(_ field: FieldReference) -> QueryPredicate { QueryPredicate(.isNull(.field(field))) }

    /// Returns a membership test. Null values in the list select nothing. For an empty list the result is false, or unknown if the field is null.
    public static func oneOf(_ field: FieldReference, _ values: [Value]) -> QueryPredicate { QueryPredicate(.oneOf(.field(field), values)) }

    /// Returns a text comparison by bytes, case-sensitive. Every text contains the empty text.
    public static func text(_ field: FieldReference, _ operation: TextOperator, _ value: String) -> QueryPredicate {
        if operation == .like, let simple = LikePattern(value).simple {
            return simple.operation.map { text(field, $0, simple.text) } ?? .compare(field, .equal, .text(simple.text))
        }
        return QueryPredicate(.text(.field(field), operation, .constant(.text(value), .string)))
    }

    /// Returns a condition on the destination objects of a relationship.
    public static func related(
        _ relationship: RelationshipReference, _ quantifier: Quantifier, _ predicate: QueryPredicate
    ) -> QueryPredicate {
        QueryPredicate(.related(relationship, quantifier, predicate))
    }

    /// Returns the conjunction of predicates.
    public static func and(_ parts: [QueryPredicate]) -> QueryPredicate {
        var flat: [QueryPredicate] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part.node {
            case .constant(true): continue
            case .constant(false): return none
            case .and(let inner): flat += inner
            default: flat.append(part)
            }
        }
        return flat.isEmpty ? all : (flat.count == 1 ? flat[0] : QueryPredicate(.and(flat)))
    }

    /// Returns the disjunction of predicates.
    public static func or(_ parts: [QueryPredicate]) -> QueryPredicate {
        var flat: [QueryPredicate] = []
        flat.reserveCapacity(parts.count)
        for part in parts {
            switch part.node {
            case .constant(false): continue
            case .constant(true): return all
            case .or(let inner): flat += inner
            default: flat.append(part)
            }
        }
        return flat.isEmpty ? none : (flat.count == 1 ? flat[0] : QueryPredicate(.or(flat)))
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
        case .constant, .search: false
        case .related: true
        case .compare(let left, _, let right), .text(let left, _, let right): left.needsRelated || right.needsRelated
        case .isNull(let expression), .oneOf(let expression, _): expression.needsRelated
        case .and(let parts), .or(let parts): parts.contains { $0.needsRelated }
        case .not(let part): part.needsRelated
        }
    }

    /// The nesting depth. It is limited so that untrusted input cannot exhaust the stack.
    public var depth: Int { depth(upTo: .max) }

    /// Returns the depth of a condition on operands of a depth. A condition on fields and constants is one level.
    private static func depth(over operands: Int) -> Int { operands == 1 ? 1 : 1 + operands }

    /// Returns the nesting depth up to a limit. Parts beyond the limit are not visited and count as one level.
    package func depth(upTo limit: Int) -> Int {
        guard limit > 1 else { return 1 }
        let rest = limit - 1
        return switch node {
        case .and(let parts), .or(let parts): 1 + (parts.lazy.map { $0.depth(upTo: rest) }.max() ?? 0)
        case .not(let part), .related(_, _, let part): 1 + part.depth(upTo: rest)
        case .compare(let left, _, let right), .text(let left, _, let right):
            Self.depth(over: max(left.depth(upTo: rest), right.depth(upTo: rest)))
        case .isNull(let expression), .oneOf(let expression, _): Self.depth(over: expression.depth(upTo: rest))
        case .constant, .search: 1
        }
    }
}

extension QueryPredicate {
    /// Adds the fields that the predicate refers to.
    public func collectFields(into mask: inout FieldMask) {
        switch node {
        case .constant: break
        case .search(let condition): for field in condition.index.fields { mask.insert(field) }
        case .compare(let left, _, let right), .text(let left, _, let right):
            left.collectFields(into: &mask)
            right.collectFields(into: &mask)
        case .isNull(let expression), .oneOf(let expression, _): expression.collectFields(into: &mask)
        case .related(let relationship, _, let part):
            if let key = relationship.foreignKey, !key.isObjectID { mask.insert(key.index) }
            part.collectOuterFields(1, into: &mask)
        case .and(let parts), .or(let parts): for part in parts { part.collectFields(into: &mask) }
        case .not(let part): part.collectFields(into: &mask)
        }
    }
}
