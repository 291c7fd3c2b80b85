#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension AttributeRule {
    /// Checks that the rule applies to the type of a field and accepts at least one value.
    /// - Throws: `invalidSchema`.
    func validate(_ field: Field, of entity: Entity) throws {
        guard let reason = reasonToRefuse(field) else { return }
        throw StoreError(
            .invalidSchema, "\(entity.name).\(field.name) is \(field.type) and has the rule \(rule) \(self): \(reason).",
            entity: entity.name, attribute: field.name)
    }

    private func reasonToRefuse(_ field: Field) -> String? {
        switch kind {
        case .range(let lower, let upper, let includesUpper):
            guard field.type != .bool, field.type.physical == .integer || field.type.physical == .real || field.type == .decimal else {
                return "only numbers and dates have a range"
            }
            for bound in [lower, upper].compactMap({ $0 }) where Self.constant(bound, for: field.type) == nil {
                return "a bound is \(bound.type)"
            }
            if let lower, let upper {
                let order = lower.value.order(to: upper.value, unsigned: lower.type == .uint64)
                if order > 0 || order == 0 && !includesUpper { return "no value is in it" }
            }
        case .length(let least, let most):
            guard field.type == .string || field.type == .url || field.type == .data else { return "only texts and data have a length" }
            guard least >= 0, most.map({ $0 >= least }) ?? true else { return "no value has it" }
        case .matches(let pattern):
            guard field.type == .string || field.type == .url else { return "only texts have a pattern" }
            guard (try? RegularExpression(pattern)) != nil else { return "this is not a regular expression" }
        }
        return nil
    }

    /// Returns a bound as a constant that is comparable with a type; nil if there is none.
    package static func constant(_ bound: Bound, for type: AttributeType) -> QueryExpression? {
        if type == .decimal {
            switch bound.value {
            case .integer(let value) where bound.type == .uint64:
                return .constant(.blob(Decimal(UInt64(bitPattern: value)).orderedBytes), type)
            case .integer(let value) where bound.type != .bool: return .constant(.blob(Decimal(value).orderedBytes), type)
            // The decimal form is used: 0.1 is exactly one tenth.
            case .real(let value) where bound.type != .date:
                return Decimal(string: "\(value)").map { .constant(.blob($0.orderedBytes), type) }
            case .blob where bound.type == .decimal: return .constant(bound.value, type)
            default: return nil
            }
        }
        guard bound.type != .bool, type.isComparable(with: bound.type) else { return nil }
        return .constant(bound.value, bound.type)
    }
}
