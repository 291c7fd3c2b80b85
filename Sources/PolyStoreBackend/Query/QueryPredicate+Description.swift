extension QueryPredicate: CustomStringConvertible {
    /// The predicate in readable form, for `explain` and messages. It is never parsed and never sent to an engine.
    public var description: String {
        switch node {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let left, let comparison, let right): "\(left) \(comparison.rawValue) \(right)"
        case .isNull(let expression): "\(expression) == NULL"
        case .oneOf(let expression, let values): "\(expression) IN {\(Self.list(values))}"
        case .text(let left, let operation, let right): "\(left) \(operation.rawValue) \(right)"
        case .related(let relationship, let quantifier, let part): "\(quantifier.rawValue) \(relationship.name) (\(part))"
        case .search(let condition): condition.description
        case .and(let parts): "(" + parts.map(\.description).joined(separator: " AND ") + ")"
        case .or(let parts): "(" + parts.map(\.description).joined(separator: " OR ") + ")"
        case .not(let part): "NOT \(part)"
        }
    }

    /// Returns the first values, and the number of all if these are not all: `1, 2, … (100000)`.
    private static func list(_ values: [Value]) -> String {
        let most = 20
        let first = values.prefix(most).map(\.literal).joined(separator: ", ")
        return values.count > most ? "\(first), … (\(values.count))" : first
    }
}

extension Value {
    /// Returns whether a field of a type can hold the value, judged by the physical type. Null fits every type.
    public func fits(_ type: AttributeType) -> Bool {
        switch (self, type.physical) {
        case (.null, _), (.integer, .integer), (.real, .real), (.text, .text), (.blob, .blob): true
        default: false
        }
    }

    /// The value as a readable literal. Long text and data are truncated.
    public var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .text(let value): "\"\(value.count > 60 ? value.prefix(60) + "…" : value[...])\""
        case .blob(let value): "<\(value.count) bytes>"
        }
    }
}
