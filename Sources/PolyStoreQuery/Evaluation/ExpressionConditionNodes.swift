import PolyStoreBackend

// The nodes of conditions on expressions.

final class CompareExpressionsNode: EvaluationNode {
    private let left: ExpressionNode
    private let right: ExpressionNode
    private let comparison: ComparisonOperator
    private let isUnsigned: (left: Bool, right: Bool)

    init(_ left: QueryExpression, _ comparison: ComparisonOperator, _ right: QueryExpression, _ lookup: RelatedLookup) {
        self.left = .make(left, lookup)
        self.right = .make(right, lookup)
        self.comparison = comparison
        isUnsigned = (left.type == .uint64, right.type == .uint64)
    }

    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        let first = try left.value(id, record)
        let second = try right.value(id, record)
        if first.isNull || second.isNull { return .unknown }
        let order: Int
        if let one = NumericValue(first, isUnsigned: isUnsigned.left), let other = NumericValue(second, isUnsigned: isUnsigned.right) {
            order = NumericValue.order(one, other)
        } else {
            order = first.order(to: second, unsigned: false)
        }
        return Ternary(comparison.accepts(order))
    }
}

final class IsNullExpressionNode: EvaluationNode {
    private let expression: ExpressionNode
    init(_ expression: QueryExpression, _ lookup: RelatedLookup) { self.expression = .make(expression, lookup) }
    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary { Ternary(try expression.value(id, record).isNull) }
}

final class ExpressionOneOfNode: EvaluationNode {
    private let expression: ExpressionNode
    private let values: Set<Value>
    init(_ expression: QueryExpression, _ values: [Value], _ lookup: RelatedLookup) {
        self.expression = .make(expression, lookup)
        self.values = Set(values.filter { !$0.isNull })
    }
    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        let value = try expression.value(id, record)
        return value.isNull ? .unknown : Ternary(values.contains(value))
    }
}

/// A text comparison: contains, begins with, ends with, LIKE or MATCHES.
final class TextExpressionsNode: EvaluationNode {
    private let left: ExpressionNode
    private let operation: TextOperator
    private let right: ExpressionNode
    /// The compiled pattern of the last right side, which is nearly always a constant.
    private var pattern: (text: String, test: (String) -> Bool)?

    init(_ left: QueryExpression, _ operation: TextOperator, _ right: QueryExpression, _ lookup: RelatedLookup) {
        self.left = .make(left, lookup)
        self.operation = operation
        self.right = .make(right, lookup)
    }

    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        guard case .text(let text) = try left.value(id, record), case .text(let wanted) = try right.value(id, record) else {
            return .unknown
        }
        if let pattern, Order.of(pattern.text, wanted) == 0 { return Ternary(pattern.test(text)) }
        let test = try Self.test(operation, wanted)
        pattern = (wanted, test)
        return Ternary(test(text))
    }

    private static func test(_ operation: TextOperator, _ wanted: String) throws -> (String) -> Bool {
        switch operation {
        case .like:
            let pattern = LikePattern(wanted)
            return { pattern.matches($0) }
        case .matches:
            let expression = try RegularExpression(wanted)
            return { expression.matches($0) }
        case .contains, .beginsWith, .endsWith:
            let search = TextSearch(operation, [UInt8](wanted.utf8))
            return { text in
                var text = text
                return text.withUTF8 { search.accepts(UnsafeRawBufferPointer($0)) }
            }
        }
    }
}
