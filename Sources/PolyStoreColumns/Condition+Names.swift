import PolyStoreBackend
import PolyStoreConditions

// The indexes of fields are those of the class on whose objects a condition is evaluated. In a closure on related objects, that is the related class, while an index
// belongs to the fetched object. A path of names without a variable begins at the fetched object in every closure.

extension Condition {
    /// The condition with the names of fields instead of their indexes.
    var byNames: Condition {
        switch self {
        case .resolved(let predicate): predicate.condition
        case .and(let parts): .and(parts.map(\.byNames))
        case .or(let parts): .or(parts.map(\.byNames))
        case .not(let part): .not(part.byNames)
        case .constant, .comparison: self
        }
    }
}

extension QueryPredicate {
    /// The condition by names. Columns make no other predicates than these.
    fileprivate var condition: Condition {
        switch node {
        case .constant(let value): return .constant(value)
        case .compare(let left, let comparison, let right): return Self.compared(left, .comparison(comparison), right)
        case .text(let left, let operation, let right): return Self.compared(left, .text(operation), right)
        case .isNull(let value): return .comparison(Comparison(value.unfolded.operand, .equal, .null))
        case .oneOf(let value, let constants):
            return .comparison(Comparison(value.unfolded.operand, .oneOf, .list(constants.map { .constant($0, value.type) })))
        case .and(let parts): return .and(parts.map(\.condition))
        case .or(let parts): return .or(parts.map(\.condition))
        case .not(let part): return .not(part.condition)
        case .related, .search: return .resolved(self)
        }
    }

    private static func compared(_ left: QueryExpression, _ operation: Comparison.Operator, _ right: QueryExpression) -> Condition {
        .comparison(Comparison(left.unfolded.operand, operation, right.unfolded.operand, options: left.options))
    }
}

extension QueryExpression {
    /// The options of a text.
    fileprivate var options: TextOptions { if case .folded(_, let options) = node { options } else { [] } }

    /// The text to which the options apply; other values as they are.
    fileprivate var unfolded: QueryExpression { if case .folded(let text, _) = node { text } else { self } }

    fileprivate var operand: Operand {
        switch node {
        case .field(let field): .path(PropertyPath([field.name]))
        case .constant(let value): value.isNull ? .null : .constant(value, type)
        default: .null
        }
    }
}
