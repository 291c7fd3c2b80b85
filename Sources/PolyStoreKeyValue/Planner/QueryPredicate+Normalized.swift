import PolyStoreBackend

extension QueryPredicate {
    /// The equivalent condition with NOT pushed down as far as possible, so that an index also serves `NOT (age < 30)`. De Morgan's laws hold in three-valued
    /// logic, and so does inverting a comparison: both are unknown for null.
    var normalized: QueryPredicate { normalized(isNegated: false) }

    private func normalized(isNegated: Bool) -> QueryPredicate {
        switch node {
        case .constant(let value): .constant(value != isNegated)
        case .compare(let left, let comparison, let right) where fieldCondition != nil:
            .compare(left, isNegated ? comparison.inverse : comparison, right)
        case .not(let part): part.normalized(isNegated: !isNegated)
        case .and(let parts):
            isNegated ? .or(parts.map { $0.normalized(isNegated: true) }) : .and(parts.map { $0.normalized(isNegated: false) })
        case .or(let parts):
            isNegated ? .and(parts.map { $0.normalized(isNegated: true) }) : .or(parts.map { $0.normalized(isNegated: false) })
        default: isNegated ? .not(self) : self
        }
    }

    /// A Boolean value that indicates whether the condition is false or unknown for every possible record.
    var isNeverTrue: Bool {
        switch node {
        case .constant(let value): !value
        case .compare(_, _, let right): right.asConstant?.isNull ?? false
        case .oneOf(_, let values): !values.contains { !$0.isNull }
        case .isNull(let expression): expression.asField?.isObjectID ?? false
        case .and(let parts): parts.contains { $0.isNeverTrue }
        case .or(let parts): !parts.contains { !$0.isNeverTrue }
        default: false
        }
    }
}

extension ComparisonOperator {
    /// The comparison that is true where this one is false.
    var inverse: ComparisonOperator {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}
