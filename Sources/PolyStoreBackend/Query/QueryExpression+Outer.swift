// Outer references: references from a condition on related objects to an enclosing object, as in a correlated subquery.

extension QueryExpression {
    /// The largest number of nesting levels that an outer reference of the expression crosses; 0 if it has none.
    package var outerDepth: Int {
        switch node {
        case .field, .constant, .score: 0
        case .related(_, let inner), .aggregate(_, _, let inner), .element(_, _, let inner): max(0, inner.outerDepth - 1)
        case .count(_, let predicate): max(0, predicate.outerDepth - 1)
        case .arithmetic(_, let left, let right): max(left.outerDepth, right.outerDepth)
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner): inner.outerDepth
        case .function(_, let operands): operands.map(\.outerDepth).max() ?? 0
        case .conditional(let predicate, let first, let second): max(predicate.outerDepth, first.outerDepth, second.outerDepth)
        case .outer(let levels, let inner): max(levels, inner.outerDepth - 1)
        }
    }

    /// Adds the fields to which the expression's outer references across `level` nesting levels refer.
    func collectOuterFields(_ level: Int, into mask: inout FieldMask) {
        guard outerDepth >= level else { return }
        switch node {
        case .field, .constant, .score: break
        case .related(_, let inner), .aggregate(_, _, let inner), .element(_, _, let inner):
            inner.collectOuterFields(level + 1, into: &mask)
        case .count(_, let predicate): predicate.collectOuterFields(level + 1, into: &mask)
        case .arithmetic(_, let left, let right):
            left.collectOuterFields(level, into: &mask)
            right.collectOuterFields(level, into: &mask)
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner): inner.collectOuterFields(level, into: &mask)
        case .function(_, let operands): for operand in operands { operand.collectOuterFields(level, into: &mask) }
        case .conditional(let predicate, let first, let second):
            predicate.collectOuterFields(level, into: &mask)
            first.collectOuterFields(level, into: &mask)
            second.collectOuterFields(level, into: &mask)
        case .outer(let levels, let inner):
            if levels == level { inner.collectFields(into: &mask) }
            inner.collectOuterFields(level + 1, into: &mask)
        }
    }
}

extension QueryPredicate {
    /// The largest number of nesting levels that an outer reference of the predicate crosses; 0 if it has none.
    public var outerDepth: Int {
        switch node {
        case .constant, .search: 0
        case .compare(let left, _, let right), .text(let left, _, let right): max(left.outerDepth, right.outerDepth)
        case .isNull(let expression), .oneOf(let expression, _): expression.outerDepth
        case .related(_, _, let part): max(0, part.outerDepth - 1)
        case .and(let parts), .or(let parts): parts.map(\.outerDepth).max() ?? 0
        case .not(let part): part.outerDepth
        }
    }

    /// Adds the fields to which the predicate's outer references across `level` nesting levels refer.
    func collectOuterFields(_ level: Int, into mask: inout FieldMask) {
        guard outerDepth >= level else { return }
        switch node {
        case .constant, .search: break
        case .compare(let left, _, let right), .text(let left, _, let right):
            left.collectOuterFields(level, into: &mask)
            right.collectOuterFields(level, into: &mask)
        case .isNull(let expression), .oneOf(let expression, _): expression.collectOuterFields(level, into: &mask)
        case .related(_, _, let part): part.collectOuterFields(level + 1, into: &mask)
        case .and(let parts), .or(let parts): for part in parts { part.collectOuterFields(level, into: &mask) }
        case .not(let part): part.collectOuterFields(level, into: &mask)
        }
    }
}
