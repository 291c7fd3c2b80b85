/// Conditions on expressions, reduced to their simplest equivalent form.
extension QueryPredicate {
    /// Returns a comparison of two expressions.
    public static func compare(_ left: QueryExpression, _ comparison: ComparisonOperator, _ right: QueryExpression) -> QueryPredicate {
        switch (left.node, right.node) {
        case (.constant, .field), (.constant, .related), (.constant, .datePart), (.constant, .json):
            return compare(right, comparison.mirrored, left)
        case (.field(let field), .constant(let value)) where right.type.writes(value, asIn: field): return compare(field, comparison, value)
        case (.related, .constant), (.datePart, .constant), (.json, .constant):
            guard let (relationship, inner) = left.asRelated else { return QueryPredicate(.compare(left, comparison, right)) }
            return related(relationship, .one, compare(inner, comparison, right))
        case (.count(let relationship, let condition), _):
            return quantified(relationship, condition, comparison, right) ?? QueryPredicate(.compare(left, comparison, right))
        case (.conditional(let test, let yes, let no), .constant(.integer(let value)))
        where [.equal, .notEqual].contains(comparison) && (0...1).contains(value) && test.isQuantified && yes.node == .constant(.integer(1))
            && no.node == .constant(.integer(0)):
            return (value == 1) == (comparison == .equal) ? test : not(test)
        default: return QueryPredicate(.compare(left, comparison, right))
        }
    }

    /// A Boolean value that indicates whether the condition tests the existence of a related object, or negates such a test. It is never unknown.
    private var isQuantified: Bool {
        switch node {
        case .related(_, .any, _): true
        case .not(let inner): inner.isQuantified
        default: false
        }
    }

    /// Returns a quantified condition for counts that need not be computed: none, at least one, all.
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

    /// Returns a test for null.
    public static func isNull(_ expression: QueryExpression) -> QueryPredicate {
        guard let (relationship, inner) = expression.asRelated else { return QueryPredicate(.isNull(expression)) }
        // The value is also null if the relationship is null.
        return relationship.foreignKey.map { or([isNull($0), related(relationship, .one, isNull(inner))]) }
            ?? QueryPredicate(.isNull(expression))
    }

    /// Returns a membership test. Null values in the list select nothing.
    public static func oneOf(_ expression: QueryExpression, _ values: [Value]) -> QueryPredicate {
        guard let (relationship, inner) = expression.asRelated else { return QueryPredicate(.oneOf(expression, values)) }
        return related(relationship, .one, oneOf(inner, values))
    }

    /// Returns a text comparison.
    public static func text(_ left: QueryExpression, _ operation: TextOperator, _ right: QueryExpression) -> QueryPredicate {
        switch (left.node, right.node) {
        case (.field(let field), .constant(.text(let value))): text(field, operation, value)
        case (.related(let relationship, let inner), .constant): related(relationship, .one, text(inner, operation, right))
        default: QueryPredicate(.text(left, operation, right))
        }
    }
}
