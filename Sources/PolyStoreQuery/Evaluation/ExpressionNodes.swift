import PolyStoreBackend

/// A compiled expression.
class ExpressionNode {
    func value(_ id: Int64, _ record: RecordView) throws -> Value { .null }

    /// Returns the values that a collection aggregate covers.
    func members(_ id: Int64, _ record: RecordView) throws -> [Value] { [] }

    static func make(_ expression: QueryExpression, _ lookup: RelatedLookup) -> ExpressionNode {
        switch expression.node {
        case .field(let field): FieldValueNode(field)
        case .constant(let value): ConstantValueNode(value)
        case .score(let condition): ScoreNode(condition, lookup)
        case .related(let relationship, let inner): RelatedValueNode(relationship, inner, lookup)
        case .count(let relationship, let predicate): RelatedCountNode(relationship, predicate, lookup)
        case .aggregate(let function, let relationship, let inner): RelatedAggregateNode(function, relationship, inner, lookup)
        case .arithmetic(let operation, let left, let right) where expression.type == .decimal:
            DecimalArithmeticNode(operation, left, right, lookup)
        case .arithmetic(let operation, let left, let right): ArithmeticNode(operation, left, right, expression.type, lookup)
        case .folded(let inner, let options): FoldedNode(inner, options, lookup)
        case .function(let function, let operands): FunctionNode(function, operands, expression.type, lookup)
        case .datePart(let part, let zone, let inner): DatePartNode(part, zone, inner, lookup)
        case .json(let field, let attribute): JSONFieldNode(field, attribute, lookup)
        case .conditional(let predicate, let first, let second): ConditionalNode(predicate, first, second, expression.type, lookup)
        case .element(let relationship, let position, let inner): ElementNode(relationship, position, inner, lookup)
        case .outer(let levels, let inner): OuterNode(levels, inner, lookup)
        }
    }
}

extension RecordView {
    /// Returns the value of a field reference.
    func value(_ field: FieldReference, id: Int64) -> Value {
        if field.isObjectID { return .integer(id) }
        if isNull(field.index) { return .null }
        return switch field.type.physical {
        case .integer: .integer(integer(field.index))
        case .real: .real(real(field.index))
        case .text: .text(string(field.index))
        case .blob: .blob([UInt8](bytes(field.index)))
        }
    }
}

private final class FieldValueNode: ExpressionNode {
    private let field: FieldReference
    init(_ field: FieldReference) { self.field = field }
    override func value(_ id: Int64, _ record: RecordView) -> Value { record.value(field, id: id) }
}

private final class ConstantValueNode: ExpressionNode {
    private let constant: Value
    init(_ value: Value) { constant = value }
    override func value(_ id: Int64, _ record: RecordView) -> Value { constant }
}

private final class RelatedValueNode: ExpressionNode {
    private let relationship: RelationshipReference
    private let values: TargetValues
    private let lookup: RelatedLookup

    init(_ relationship: RelationshipReference, _ inner: QueryExpression, _ lookup: RelatedLookup) {
        self.relationship = relationship
        values = TargetValues(relationship, inner, lookup)
        self.lookup = lookup
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard let target = relationship.target(in: record) else { return .null }
        return try lookup.below(id, record, values.seesOuter) { try values.value(target) }
    }

    override func members(_ id: Int64, _ record: RecordView) throws -> [Value] {
        guard let target = relationship.target(in: record) else { return [] }
        return try lookup.below(id, record, values.seesOuter) { try values.members(target) }
    }
}

private final class RelatedCountNode: ExpressionNode {
    private let relationship: RelationshipReference
    private let predicate: QueryPredicate
    private let truths: TargetTruths
    private let lookup: RelatedLookup

    init(_ relationship: RelationshipReference, _ predicate: QueryPredicate, _ lookup: RelatedLookup) {
        self.relationship = relationship
        self.predicate = predicate
        truths = TargetTruths(relationship, predicate, lookup, remembers: relationship.sharesDestinations)
        self.lookup = lookup
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value { .integer(Int64(try targets(id, record).count)) }

    override func members(_ id: Int64, _ record: RecordView) throws -> [Value] { try targets(id, record).map { .integer($0) } }

    private func targets(_ id: Int64, _ record: RecordView) throws -> [Int64] {
        let targets = try lookup.targets(of: id, record, relationship)
        if predicate == .all { return targets }
        return try lookup.below(id, record, truths.seesOuter) { try targets.filter { try truths.truth($0) == .true } }
    }
}

private final class RelatedAggregateNode: ExpressionNode {
    private let function: Aggregate.Function
    private let relationship: RelationshipReference
    private let values: TargetValues
    private let type: AttributeType
    private let isDistinct: Bool
    private let lookup: RelatedLookup

    init(_ function: Aggregate.Function, _ relationship: RelationshipReference, _ inner: QueryExpression, _ lookup: RelatedLookup) {
        self.function = function
        self.relationship = relationship
        values = TargetValues(relationship, inner, lookup)
        type = inner.type
        isDistinct = if case .function(.distinct, _) = inner.node { true } else { false }
        self.lookup = lookup
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value { try aggregated(try members(id, record)) }

    override func members(_ id: Int64, _ record: RecordView) throws -> [Value] {
        var members: [Value] = []
        var known: Set<Value> = []
        try lookup.below(id, record, values.seesOuter) {
            for target in try lookup.targets(of: id, record, relationship) {
                let value = try values.value(target)
                if !value.isNull, !isDistinct || known.insert(value).inserted { members.append(value) }
            }
        }
        return members
    }

    private func aggregated(_ values: [Value]) throws -> Value {
        let isUnsigned = type == .uint64
        switch function {
        case .count: return .integer(Int64(values.count))
        case .countDistinct: return .integer(Int64(Set(values).count))
        case .minimum: return values.min { $0.order(to: $1, unsigned: isUnsigned) < 0 } ?? .null
        case .maximum: return values.max { $0.order(to: $1, unsigned: isUnsigned) < 0 } ?? .null
        case .mode: return ValueCounts(values).mode(isUnsigned: isUnsigned)
        case .standardDeviation:
            if type.physical == .real { return RealSpread(values).deviation }
            return IntegerSpread(values, isUnsigned: isUnsigned).deviation
        case .median:
            if type.physical == .real { return Median.of(values.compactMap(\.real)) }
            return Median.of(values.compactMap { NumericValue($0, isUnsigned: isUnsigned)?.asInteger })
        case .sum where type == .decimal: return try DecimalSum(values).sum() ?? .null
        case .average where type == .decimal: return try DecimalSum(values).average() ?? .null
        case .sum, .average:
            let count = Double(values.count)
            if type.physical == .real {
                let sum = values.reduce(into: RealSum()) { if case .real(let real) = $1 { $0.add(real) } }.total
                return function == .sum ? .real(Value.normalized(sum)) : (values.isEmpty ? .null : .real(Value.normalized(sum / count)))
            }
            let sum = values.reduce(into: Int128(0)) { $0 += NumericValue($1, isUnsigned: isUnsigned)?.asInteger ?? 0 }
            if function == .average { return values.isEmpty ? .null : .real(Double(sum) / count) }
            return isUnsigned
                ? UInt64(exactly: sum).map { .integer(Int64(bitPattern: $0)) } ?? .null : Int64(exactly: sum).map { .integer($0) } ?? .null
        }
    }
}

private final class FoldedNode: ExpressionNode {
    private let inner: ExpressionNode
    private let options: TextOptions
    init(_ inner: QueryExpression, _ options: TextOptions, _ lookup: RelatedLookup) {
        self.inner = .make(inner, lookup)
        self.options = options
    }
    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard case .text(let text) = try inner.value(id, record) else { return .null }
        return .text(options.fold(text))
    }
}

private final class ArithmeticNode: ExpressionNode {
    private let operation: ArithmeticOperator
    private let left: ExpressionNode
    private let right: ExpressionNode
    private let isUnsigned: (left: Bool, right: Bool)
    private let type: AttributeType

    init(
        _ operation: ArithmeticOperator, _ left: QueryExpression, _ right: QueryExpression, _ type: AttributeType, _ lookup: RelatedLookup
    ) {
        self.operation = operation
        self.left = .make(left, lookup)
        self.right = .make(right, lookup)
        isUnsigned = (left.type == .uint64, right.type == .uint64)
        self.type = type
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard let first = NumericValue(try left.value(id, record), isUnsigned: isUnsigned.left),
            let second = NumericValue(try right.value(id, record), isUnsigned: isUnsigned.right)
        else { return .null }
        if type.physical == .real { return result(first.asReal, second.asReal) }
        return result(first.asInteger, second.asInteger)
    }

    private func result(_ left: Double, _ right: Double) -> Value {
        switch operation {
        case .add: .real(Value.normalized(left + right))
        case .subtract: .real(Value.normalized(left - right))
        case .multiply: .real(Value.normalized(left * right))
        case .divide: right == 0 ? .null : .real(Value.normalized(left / right))
        }
    }

    /// Operands of 64 bits cannot overflow 128 bits.
    private func result(_ left: Int128, _ right: Int128) -> Value {
        let exact: Int128
        switch operation {
        case .add: exact = left + right
        case .subtract: exact = left - right
        case .multiply:
            let (product, overflow) = left.multipliedReportingOverflow(by: right)
            if overflow { return .null }
            exact = product
        case .divide:
            if right == 0 { return .null }
            exact = left / right
        }
        return Int64(exactly: exact).map { .integer($0) } ?? .null
    }
}
