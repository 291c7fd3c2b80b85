import PolyStoreBackend

/// Evaluates a predicate on records, without creating objects. This is the reference semantics for every backend.
///
/// A predicate is compiled once per query: into tests of single fields, which run over batches of rows, and a tree of nodes for all other conditions.
public final class PredicateEvaluator {
    /// The single-field tests; all must pass.
    private let tests: ContiguousArray<FieldTest>
    /// The other conditions; all must be true.
    private let nodes: ContiguousArray<EvaluationNode>

    /// Compiles a predicate.
    /// - Parameters:
    ///   - predicate: The predicate to compile.
    ///   - related: Looks up related objects; nil if the predicate refers to none.
    public init(_ predicate: QueryPredicate, _ related: (any RelatedRecords)? = nil) {
        let lookup = RelatedLookup(related)
        var tests: ContiguousArray<FieldTest> = []
        var nodes: ContiguousArray<EvaluationNode> = []
        Self.split(predicate, &tests, &nodes, lookup)
        self.tests = tests
        self.nodes = nodes
    }

    /// Returns whether the predicate is true for the record, as opposed to false or unknown.
    /// - Throws: the errors of looking up related objects.
    public func matches(id: Int64, _ record: RecordView) throws -> Bool {
        let passes = tests.withUnsafeBufferPointer { tests in
            for test in tests where !test.accepts(id, record) { return false }
            return true
        }
        guard passes else { return false }
        for node in nodes where try node.evaluate(id, record) != .true { return false }
        return true
    }

    /// Deselects the rows of a batch that do not match.
    package func select(_ batch: RecordBatch) throws {
        for test in tests where batch.selected > 0 { test.narrow(batch) }
        for node in nodes where batch.selected > 0 { try batch.narrow { try node.evaluate(batch.ids[$0], batch.view($0)) == .true } }
    }

    /// Splits an AND into tests and nodes.
    private static func split(
        _ predicate: QueryPredicate, _ tests: inout ContiguousArray<FieldTest>, _ nodes: inout ContiguousArray<EvaluationNode>,
        _ lookup: RelatedLookup
    ) {
        if case .and(let parts) = predicate.node {
            for part in parts { split(part, &tests, &nodes, lookup) }
        } else if let test = FieldTest(predicate) {
            tests.append(test)
        } else if predicate != .all {
            nodes.append(compile(predicate, lookup))
        }
    }

    static func compile(_ predicate: QueryPredicate, _ lookup: RelatedLookup) -> EvaluationNode {
        if let node = predicate.fieldCondition.flatMap(compile) { return node }
        return switch predicate.node {
        case .constant(let value): ConstantNode(value ? .true : .false)
        case .compare(let left, let comparison, let right): CompareExpressionsNode(left, comparison, right, lookup)
        case .isNull(let expression): IsNullExpressionNode(expression, lookup)
        case .oneOf(let expression, let values): ExpressionOneOfNode(expression, values, lookup)
        case .text(let left, let operation, let right): TextExpressionsNode(left, operation, right, lookup)
        case .search(let condition): SearchNode(condition)
        case .related(let relationship, let quantifier, let part): RelatedNode(relationship, quantifier, part, lookup)
        case .and(let parts): AndNode(parts.map { compile($0, lookup) })
        case .or(let parts): OrNode(parts.map { compile($0, lookup) })
        case .not(let part): NotNode(compile(part, lookup))
        }
    }

    /// Returns the node of a condition on fields; nil if the general node of its operands serves as well.
    private static func compile(_ condition: FieldCondition) -> EvaluationNode? {
        switch condition {
        case .compare(let field, let comparison, let value): compare(field, comparison, value)
        case .compareFields(let left, let comparison, let right): CompareFieldsNode(left, comparison, right)
        case .isNull(let field): field.isObjectID ? ConstantNode(.false) : IsNullNode(field.index)
        case .oneOf(let field, let values): OneOfNode(field, Set(values.filter { !$0.isNull }))
        case .text(_, .like, _), .text(_, .matches, _): nil
        case .text(let field, let operation, let value): TextNode(field.index, TextSearch(operation, [UInt8](value.utf8)))
        }
    }

    private static func compare(_ field: FieldReference, _ comparison: ComparisonOperator, _ value: Value) -> EvaluationNode {
        switch value {
        case .null: ConstantNode(.unknown)
        case .integer(let constant):
            field.isObjectID ? IDNode(comparison, constant) : IntegerNode(field, comparison, constant)
        case .real(let constant): RealNode(field.index, comparison, Value.normalized(constant))
        case .text(let constant): BytesNode(field.index, comparison, [UInt8](constant.utf8))
        case .blob(let constant): BytesNode(field.index, comparison, constant)
        }
    }
}
