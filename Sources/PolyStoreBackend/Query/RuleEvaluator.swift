#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Validates records against the rules of an entity's attributes. Not thread-safe.
package final class RuleEvaluator {
    /// A violated rule.
    package struct Finding {
        package let field: Field
        package let rule: Violation.Rule
        /// The predicate of a sentence that begins with the attribute name.
        package let message: String
    }

    private struct Check {
        let field: Field
        let rule: AttributeRule
        let isBroken: (Int64, RecordView) throws -> Bool
    }

    private let checks: [Check]
    /// The fields that have rules.
    package let fields: FieldMask

    /// Compiles the rules of an entity.
    /// - Throws: `invalidSchema` if a rule does not fit its attribute or has no effect.
    package init(_ entity: Entity) throws {
        var checks: [Check] = []
        var fields = FieldMask()
        for case .attribute(let attribute) in entity.description.properties where !attribute.rules.isEmpty {
            guard let field = entity.field(named: attribute.name) else { continue }
            fields.insert(field.ordinal)
            for rule in attribute.rules {
                checks.append(Check(field: field, rule: rule, isBroken: try Self.test(rule, field, entity)))
            }
        }
        self.checks = checks
        self.fields = fields
    }

    /// Returns whether an entity has any rules.
    package static func isNeeded(_ entity: Entity) -> Bool {
        entity.description.properties.contains { if case .attribute(let attribute) = $0 { !attribute.rules.isEmpty } else { false } }
    }

    /// Returns the rules that a record violates, in the order of the attributes.
    /// - Parameter mask: the fields to validate.
    package func findings(_ id: Int64, _ record: RecordView, _ mask: FieldMask) throws -> [Finding] {
        var found: [Finding] = []
        for check in checks where mask.contains(check.field.ordinal) && !record.isNull(check.field.ordinal) {
            guard try check.isBroken(id, record) else { continue }
            let value = record.value(check.field).described(check.field.type)
            let message =
                switch check.rule.kind {
                case .range: "is \(value), and \(check.rule) is allowed"
                case .length:
                    "is \(value) (\(Self.length(record, check.field))), and a length of \(check.rule) is allowed"
                case .matches: "is \(value), which does not match \(check.rule)"
                }
            found.append(Finding(field: check.field, rule: check.rule.rule, message: message))
        }
        return found
    }

    private static func length(_ record: RecordView, _ field: Field) -> Int {
        let bytes = record.bytes(field.ordinal)
        return field.type == .data ? bytes.count : String(decoding: bytes, as: UTF8.self).count
    }

    // MARK: Rules

    private static func test(_ rule: AttributeRule, _ field: Field, _ entity: Entity) throws -> (Int64, RecordView) throws -> Bool {
        func misfit(_ why: String) -> StoreError {
            StoreError(
                .invalidSchema, "\(entity.name).\(field.name) is \(field.type) and has the rule \(rule.rule) \(rule): \(why).",
                entity: entity.name, attribute: field.name)
        }
        switch rule.kind {
        case .range(let lower, let upper, let includesUpper):
            guard field.type != .bool, field.type.physical == .integer || field.type.physical == .real || field.type == .decimal else {
                throw misfit("only numbers and dates have a range")
            }
            let reference = QueryExpression.field(FieldReference(field))
            var parts: [QueryPredicate] = []
            for (bound, comparison) in [(lower, ComparisonOperator.greaterOrEqual), (upper, includesUpper ? .lessOrEqual : .less)] {
                guard let bound else { continue }
                guard let constant = constant(bound, for: field.type) else { throw misfit("a bound is \(bound.type)") }
                parts.append(.compare(reference, comparison, constant))
            }
            if let lower, let upper, lower.value.order(to: upper.value, unsigned: lower.type == .uint64) > 0 {
                throw misfit("no value is in it")
            }
            // For values that cannot be compared, neither condition is true.
            let evaluator = PredicateEvaluator(.not(.and(parts)))
            guard field.type.physical == .real else { return { try evaluator.matches(id: $0, $1) } }
            // NaN is ordered below every number but is outside every range.
            return { try $1.real(field.ordinal).isNaN || evaluator.matches(id: $0, $1) }
        case .length(let least, let most):
            guard field.type == .string || field.type == .url || field.type == .data else {
                throw misfit("only texts and data have a length")
            }
            guard least >= 0, most.map({ $0 >= least }) ?? true else { throw misfit("no value has it") }
            return { _, record in
                let length = length(record, field)
                return length < least || length > most ?? .max
            }
        case .matches(let pattern):
            guard field.type == .string || field.type == .url else { throw misfit("only texts have a pattern") }
            guard let expression = try? RegularExpression(pattern) else { throw misfit("this is not a regular expression") }
            return { _, record in !expression.matches(String(decoding: record.bytes(field.ordinal), as: UTF8.self)) }
        }
    }

    /// Returns a bound as a constant that is comparable with a type; nil if there is none.
    private static func constant(_ bound: AttributeRule.Bound, for type: AttributeType) -> QueryExpression? {
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
