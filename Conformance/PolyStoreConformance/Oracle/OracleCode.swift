import PolyStoreBackend

// Requests as Swift code that can be pasted into a case or a test in which `schema` is the resolved schema.

extension OracleQuery {
    /// The code of the queries that are requests.
    var code: [String] {
        switch self {
        case .fetch(let request), .count(let request), .explain(let request), .refused(let request): [request.code]
        case .interleaved(let requests): requests.map(\.code)
        case .aggregate(let request):
            ["AggregateRequest(\(request.entity.code), predicate: \(request.predicate.code(request.entity)), aggregates: [.count])"]
        case .compared(let comparison): [FetchRequest(comparison.entity, predicate: comparison.predicate).code]
        case .searched(let condition): [FetchRequest(condition.entity, predicate: .search(condition)).code]
        case .related, .record: []
        }
    }
}

extension Entity {
    fileprivate var code: String { "schema.entities[\(index)]" }
}

extension FetchRequest {
    fileprivate var code: String {
        var text = "FetchRequest(\(entity.code), predicate: \(predicate.code(entity))"
        if !sortKeys.isEmpty {
            let keys = sortKeys.map {
                "SortKey(\(($0.expression ?? .field($0.field)).code(entity)), ascending: \($0.ascending), nulls: .\($0.nulls.rawValue))"
            }
            text += ", sortKeys: [\(keys.joined(separator: ", "))]"
        }
        if let limit { text += ", limit: \(limit)" }
        if offset > 0 { text += ", offset: \(offset)" }
        if onlyIDs { text += ", onlyIDs: true" }
        return text + ")"
    }
}

extension FieldReference {
    fileprivate func code(_ entity: Entity) -> String {
        isObjectID ? ".objectID" : "FieldReference(\(entity.code).fields[\(index)])"
    }
}

extension RelationshipReference {
    fileprivate func code(_ entity: Entity) -> String {
        "RelationshipReference(\(entity.code).relationships[\(relationship.index)], in: schema)"
    }
}

extension Value {
    fileprivate var code: String {
        switch self {
        case .null: ".null"
        case .integer(let value): value == .min ? ".integer(.min)" : ".integer(\(value))"
        case .real(let value) where value.isNaN: ".real(.nan)"
        case .real(let value) where value.isInfinite: ".real(\(value < 0 ? "-" : "").infinity)"
        case .real(let value): ".real(\(value))"
        case .text(let value): ".text(\(value.code))"
        case .blob(let value): ".blob(\(value))"
        }
    }
}

extension String {
    /// A string literal, scalar by scalar.
    fileprivate var code: String {
        "\""
            + unicodeScalars.map { scalar in
                switch scalar {
                case "\"", "\\": return "\\" + String(scalar)
                case " "..."~": return String(scalar)
                default: return "\\u{\(String(scalar.value, radix: 16))}"
                }
            }.joined() + "\""
    }
}

extension ComparisonOperator {
    fileprivate var code: String {
        switch self {
        case .equal: ".equal"
        case .notEqual: ".notEqual"
        case .less: ".less"
        case .lessOrEqual: ".lessOrEqual"
        case .greater: ".greater"
        case .greaterOrEqual: ".greaterOrEqual"
        }
    }
}

extension QueryPredicate {
    fileprivate func code(_ entity: Entity) -> String {
        func list(_ values: [Value]) -> String { "[\(values.map(\.code).joined(separator: ", "))]" }
        func list(_ parts: [QueryPredicate]) -> String { "[\(parts.map { $0.code(entity) }.joined(separator: ", "))]" }
        switch node {
        case .constant(let value): return ".constant(\(value))"
        case .compare(let left, let comparison, let right):
            return ".compare(\(left.code(entity)), \(comparison.code), \(right.code(entity)))"
        case .isNull(let expression): return ".isNull(\(expression.code(entity)))"
        case .oneOf(let expression, let values): return ".oneOf(\(expression.code(entity)), \(list(values)))"
        case .text(let left, let operation, let right):
            return ".text(\(left.code(entity)), .\(operation), \(right.code(entity)))"
        case .related(let reference, let quantifier, let part):
            return ".related(\(reference.code(entity)), .\(quantifier), \(part.code(reference.destination)))"
        case .search(let condition): return ".search(\(condition.code(entity)))"
        case .and(let parts): return ".and(\(list(parts)))"
        case .or(let parts): return ".or(\(list(parts)))"
        case .not(let part): return ".not(\(part.code(entity)))"
        }
    }
}

extension SearchCondition {
    fileprivate func code(_ entity: Entity) -> String {
        "try! SearchCondition(Search(\(Value.text(text).code)), in: \(entity.code).searchIndexes[\(index.index)], of: \(entity.code))"
    }
}

extension QueryExpression {
    fileprivate func code(_ entity: Entity) -> String {
        switch node {
        case .score(let condition): return "QueryExpression.score(\(condition.code(entity)))"
        case .field(let field): return "QueryExpression.field(\(field.code(entity)))"
        case .constant(let value): return "QueryExpression.constant(\(value.code), .\(type))"
        case .related(let reference, let inner):
            return "QueryExpression.related(\(reference.code(entity)), \(inner.code(reference.destination)))"
        case .count(let reference, let predicate):
            return "QueryExpression.count(\(reference.code(entity)), where: \(predicate.code(reference.destination)))"
        case .aggregate(let function, let reference, let inner):
            return "QueryExpression.aggregate(.\(function), \(reference.code(entity)), \(inner.code(reference.destination)))"
        // The operation exists for the types, so the result is never `nil`.
        case .arithmetic(let operation, let left, let right):
            return "QueryExpression.arithmetic(.\(operation), \(left.code(entity)), \(right.code(entity)))!"
        case .folded(let inner, let options):
            return "QueryExpression.folded(\(inner.code(entity)), TextOptions(rawValue: \(options.rawValue)))"
        case .datePart(let part, let zone, let date):
            return "QueryExpression.datePart(.\(part), of: \(date.code(entity)), in: QueryTimeZone(\"\(zone.identifier)\")!)!"
        case .function(let function, let operands):
            return "QueryExpression.function(.\(function), [\(operands.map { $0.code(entity) }.joined(separator: ", "))])!"
        case .json(let field, let attribute):
            let result =
                switch field.result {
                case .value(let type): ".value(.\(type))"
                case .contains(let value, let type): ".contains(\(value.code), .\(type))"
                }
            return "QueryExpression.json(JSONField(\(field.keys), \(result)), of: \(attribute.code(entity)))!"
        case .conditional, .element, .outer: return "\(self)"
        }
    }
}
