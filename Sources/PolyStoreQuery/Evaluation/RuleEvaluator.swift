import PolyStoreBackend

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

    /// Compiles the rules of an entity, which the schema has validated.
    /// - Throws: `invalidPredicate` for an invalid regular expression.
    package init(_ entity: Entity) throws {
        var checks: [Check] = []
        var fields = FieldMask()
        for case .attribute(let attribute) in entity.description.properties where !attribute.rules.isEmpty {
            guard let field = entity.field(named: attribute.name) else { continue }
            fields.insert(field.index)
            for rule in attribute.rules {
                checks.append(Check(field: field, rule: rule, isBroken: try Self.test(rule, field)))
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
        for check in checks where mask.contains(check.field.index) && !record.isNull(check.field.index) {
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
        let bytes = record.bytes(field.index)
        return field.type == .data ? bytes.count : String(decoding: bytes, as: UTF8.self).count
    }

    // MARK: Rules

    private static func test(_ rule: AttributeRule, _ field: Field) throws -> (Int64, RecordView) throws -> Bool {
        switch rule.kind {
        case .range(let lower, let upper, let includesUpper):
            let reference = QueryExpression.field(FieldReference(field))
            var parts: [QueryPredicate] = []
            for (bound, comparison) in [(lower, ComparisonOperator.greaterOrEqual), (upper, includesUpper ? .lessOrEqual : .less)] {
                guard let bound, let constant = AttributeRule.constant(bound, for: field.type) else { continue }
                parts.append(.compare(reference, comparison, constant))
            }
            // For values that cannot be compared, neither condition is true.
            let evaluator = PredicateEvaluator(.not(.and(parts)))
            guard field.type.physical == .real else { return { try evaluator.matches(id: $0, $1) } }
            // NaN is ordered below every number but is outside every range.
            return { try $1.real(field.index).isNaN || evaluator.matches(id: $0, $1) }
        case .length(let least, let most):
            return { _, record in
                let length = length(record, field)
                return length < least || length > most ?? .max
            }
        case .matches(let pattern):
            let expression = try RegularExpression(pattern)
            return { _, record in !expression.matches(String(decoding: record.bytes(field.index), as: UTF8.self)) }
        }
    }
}
