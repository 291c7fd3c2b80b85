/// Decides a predicate on records, without making objects: the meaning that every backend must have.
///
/// Compiled once per query: tests of single fields that must all pass, which run over many rows at once, and a tree of small nodes for what is left.
public final class PredicateEvaluator {
    /// All of these must be true…
    private let tests: ContiguousArray<FieldTest>
    /// … and all of these.
    private let nodes: ContiguousArray<EvaluationNode>

    public init(_ predicate: QueryPredicate) {
        var tests: ContiguousArray<FieldTest> = []
        var nodes: ContiguousArray<EvaluationNode> = []
        Self.split(predicate, &tests, &nodes)
        self.tests = tests
        self.nodes = nodes
    }

    /// Whether the record is selected: whether the predicate is true, neither false nor unknown.
    public func matches(id: Int64, _ record: RecordView) -> Bool {
        let passes = tests.withUnsafeBufferPointer { tests in
            for test in tests where !test.accepts(id, record) { return false }
            return true
        }
        guard passes else { return false }
        for node in nodes where node.evaluate(id, record) != .true { return false }
        return true
    }

    /// Leaves the rows selected that are.
    package func select(_ batch: RecordBatch) {
        for test in tests where batch.selected > 0 { test.narrow(batch) }
        for node in nodes where batch.selected > 0 { batch.narrow { node.evaluate(batch.ids[$0], batch.view($0)) == .true } }
    }

    /// Takes an AND apart.
    private static func split(
        _ predicate: QueryPredicate, _ tests: inout ContiguousArray<FieldTest>, _ nodes: inout ContiguousArray<EvaluationNode>
    ) {
        if case .and(let parts) = predicate.node {
            for part in parts { split(part, &tests, &nodes) }
        } else if let test = FieldTest(predicate) {
            tests.append(test)
        } else if predicate != .all {
            nodes.append(compile(predicate))
        }
    }

    private static func compile(_ predicate: QueryPredicate) -> EvaluationNode {
        switch predicate.node {
        case .constant(let value): ConstantNode(value ? .true : .false)
        case .compare(let field, let comparison, let value): compare(field, comparison, value)
        case .compareFields(let left, let comparison, let right): CompareFieldsNode(left, comparison, right)
        case .isNull(let field): field.isObjectID ? ConstantNode(.false) : IsNullNode(field.ordinal)
        case .oneOf(let field, let values): OneOfNode(field, Set(values.filter { !$0.isNull }))
        case .text(let field, let operation, let value): TextNode(field.ordinal, operation, [UInt8](value.utf8))
        case .and(let parts): AndNode(parts.map(compile))
        case .or(let parts): OrNode(parts.map(compile))
        case .not(let part): NotNode(compile(part))
        }
    }

    private static func compare(_ field: FieldReference, _ comparison: ComparisonOperator, _ value: Value) -> EvaluationNode {
        switch value {
        case .null: ConstantNode(.unknown)
        case .integer(let constant):
            field.isObjectID ? IDNode(comparison, constant) : IntegerNode(field, comparison, constant)
        case .real(let constant): RealNode(field.ordinal, comparison, Value.normalized(constant))
        case .text(let constant): BytesNode(field.ordinal, comparison, [UInt8](constant.utf8))
        case .blob(let constant): BytesNode(field.ordinal, comparison, constant)
        }
    }
}
