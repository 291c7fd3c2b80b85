import PolyStoreBackend

/// The bound that a conjunct places on a field, as far as an index can use it.
enum FieldBound {
    /// One of several values, which may include null.
    case points([Value])
    case above(Value, isIncluded: Bool)
    case below(Value, isIncluded: Bool)
    case beginning(String)
    /// Any value except null.
    case notNull

    /// - Returns: `nil` if an index over the field cannot serve the predicate.
    init?(_ predicate: QueryPredicate, field: Field) {
        if case .not(let inner) = predicate.node {
            guard case .isNull(let reference)? = inner.fieldCondition, reference.index == field.index else { return nil }
            self = .notNull
            return
        }
        switch predicate.fieldCondition {
        case .compare(let reference, let comparison, let value)? where reference.index == field.index:
            guard Self.isUsable(value, field) else { return nil }
            switch comparison {
            case .equal: self = .points([value])
            case .notEqual: return nil
            case .less: self = .below(value, isIncluded: false)
            case .lessOrEqual: self = .below(value, isIncluded: true)
            case .greater: self = .above(value, isIncluded: false)
            case .greaterOrEqual: self = .above(value, isIncluded: true)
            }
        case .isNull(let reference)? where reference.index == field.index: self = .points([.null])
        case .oneOf(let reference, let values)? where reference.index == field.index:
            let values = values.filter { !$0.isNull }
            guard values.allSatisfy({ Self.isUsable($0, field) }) else { return nil }
            self = .points(values)
        case .text(let reference, .beginsWith, let text)? where reference.index == field.index: self = .beginning(text)
        default: return nil
        }
    }

    /// Returns whether the key of a constant sorts as the constant does among the values of the field.
    private static func isUsable(_ value: Value, _ field: Field) -> Bool {
        switch (field.type, value) {
        case (_, .null): false
        case (.bool, .integer(let value)): value == 0 || value == 1
        case (.uuid, .blob(let bytes)): bytes.count == 16
        default: true
        }
    }
}
