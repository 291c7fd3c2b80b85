/// A condition whose operands are fields of the object and constants of their types: what an index can serve, and what can be evaluated without expressions.
public enum FieldCondition: Sendable, Hashable {
    /// A comparison of a field with a constant of its physical type.
    case compare(FieldReference, ComparisonOperator, Value)
    /// A comparison of two fields of the same physical type.
    case compareFields(FieldReference, ComparisonOperator, FieldReference)
    /// A test whether a field is null.
    case isNull(FieldReference)
    /// A test whether a field equals one of several constants.
    case oneOf(FieldReference, [Value])
    /// A comparison of a field with a text.
    case text(FieldReference, TextOperator, String)
}

extension QueryPredicate {
    /// The predicate as a condition on fields; nil if an operand is another expression, or a number of another type that must be converted.
    public var fieldCondition: FieldCondition? {
        switch node {
        case .compare(let left, let comparison, let right):
            guard case .field(let field) = left.node else { return nil }
            switch right.node {
            case .constant(let value): return right.type.writes(value, asIn: field) ? .compare(field, comparison, value) : nil
            case .field(let other): return field.hasSameForm(as: other) ? .compareFields(field, comparison, other) : nil
            default: return nil
            }
        case .isNull(let expression): return expression.asField.map { .isNull($0) }
        case .oneOf(let expression, let values): return expression.asField.map { .oneOf($0, values) }
        case .text(let left, let operation, let right):
            guard case .field(let field) = left.node, case .constant(.text(let text)) = right.node else { return nil }
            return .text(field, operation, text)
        default: return nil
        }
    }
}

extension FieldReference {
    /// Returns whether the values of two fields are compared without a conversion.
    fileprivate func hasSameForm(as other: FieldReference) -> Bool {
        type == other.type
            || type.physical == other.type.physical && isUnsigned == other.isUnsigned && type.isComparable(with: other.type)
    }
}

extension AttributeType {
    /// Returns whether a constant of this type has the same value when read with the field's type. False for numbers above 2^63 − 1 with a signed field and
    /// for numbers below 0 with an unsigned one. Null has.
    func writes(_ value: Value, asIn field: FieldReference) -> Bool {
        if case .integer(let integer) = value {
            return field.type.physical == .integer && ((self == .uint64) == field.isUnsigned || integer >= 0)
        }
        return value.fits(field.type)
    }
}
