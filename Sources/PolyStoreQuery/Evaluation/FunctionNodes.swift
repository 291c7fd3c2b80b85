import PolyStoreBackend
import PolyStorePlatform

/// A function call.
final class FunctionNode: ExpressionNode {
    private let function: ScalarFunction
    private let operands: [ExpressionNode]
    private let isUnsigned: [Bool]
    private let type: AttributeType

    init(_ function: ScalarFunction, _ operands: [QueryExpression], _ type: AttributeType, _ lookup: RelatedLookup) {
        self.function = function
        self.operands = operands.map { .make($0, lookup) }
        isUnsigned = operands.map { $0.type == .uint64 }
        self.type = type
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        let first = try operands[0].value(id, record)
        switch (function, first) {
        case (.distinct, _): return first
        case (_, .null): return .null
        case (.length, .text(let text)): return .integer(Int64(text.count))
        case (.uppercase, .text(let text)): return .text(text.uppercased())
        case (.lowercase, .text(let text)): return .text(text.lowercased())
        default: break
        }
        guard let number = NumericValue(first, isUnsigned: isUnsigned[0]) else { return .null }
        guard operands.count > 1 else { return result(number) }
        guard let other = NumericValue(try operands[1].value(id, record), isUnsigned: isUnsigned[1]) else { return .null }
        return result(number, other)
    }

    private func result(_ number: NumericValue) -> Value {
        switch (function, number) {
        case (.abs, .integer(let integer)):
            if type == .uint64 { return .integer(Int64(truncatingIfNeeded: integer)) }
            return Int64(exactly: integer.magnitude).map { .integer($0) } ?? .null
        case (.ceiling, .integer(let integer)), (.floor, .integer(let integer)), (.trunc, .integer(let integer)):
            return .integer(Int64(truncatingIfNeeded: integer))
        case (.abs, .real(let real)): return .real(Value.normalized(real.magnitude))
        case (.ceiling, .real(let real)): return .real(Value.normalized(real.rounded(.up)))
        case (.floor, .real(let real)): return .real(Value.normalized(real.rounded(.down)))
        case (.trunc, .real(let real)): return .real(Value.normalized(real.rounded(.towardZero)))
        case (.sqrt, _): return number.asReal < 0 ? .null : .real(Value.normalized(number.asReal.squareRoot()))
        case (.ln, _): return number.asReal <= 0 ? .null : .real(Value.normalized(log(number.asReal)))
        case (.log, _): return number.asReal <= 0 ? .null : .real(Value.normalized(log10(number.asReal)))
        case (.exp, _): return .real(Value.normalized(exp(number.asReal)))
        default: return .null
        }
    }

    private func result(_ left: NumericValue, _ right: NumericValue) -> Value {
        if function == .shuffle {
            guard case .integer(let number) = left, case .integer(let seed) = right else { return .null }
            return .integer(Shuffle.value(of: Int64(truncatingIfNeeded: number), seed: Int64(truncatingIfNeeded: seed)))
        }
        if function == .power {
            let power = pow(left.asReal, right.asReal)
            return power.isNaN && !left.asReal.isNaN && !right.asReal.isNaN ? .null : .real(Value.normalized(power))
        }
        if case .integer(let first) = left, case .integer(let second) = right {
            return second == 0 ? .null : Int64(exactly: first % second).map { .integer($0) } ?? .null
        }
        return right.asReal == 0 ? .null : .real(Value.normalized(left.asReal.truncatingRemainder(dividingBy: right.asReal)))
    }
}

/// A conditional expression.
final class ConditionalNode: ExpressionNode {
    private let condition: EvaluationNode
    private let first: ExpressionNode
    private let second: ExpressionNode
    private let isReal: Bool

    init(_ predicate: QueryPredicate, _ first: QueryExpression, _ second: QueryExpression, _ type: AttributeType, _ lookup: RelatedLookup) {
        condition = PredicateEvaluator.compile(predicate, lookup)
        self.first = .make(first, lookup)
        self.second = .make(second, lookup)
        isReal = type == .double
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        let value = try condition.evaluate(id, record) == .true ? first.value(id, record) : second.value(id, record)
        if isReal, case .integer(let integer) = value { return .real(Double(integer)) }
        return value
    }
}

/// A value of a member of an ordered relationship.
final class ElementNode: ExpressionNode {
    private let relationship: RelationshipReference
    private let position: Int
    private let values: TargetValues
    private let lookup: RelatedLookup

    init(_ relationship: RelationshipReference, _ position: Int, _ inner: QueryExpression, _ lookup: RelatedLookup) {
        self.relationship = relationship
        self.position = position
        values = TargetValues(relationship, inner, lookup)
        self.lookup = lookup
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        let targets = try lookup.targets(of: id, record, relationship)
        let index = position < 0 ? targets.count + position : position
        guard targets.indices.contains(index) else { return .null }
        return try lookup.below(id, record, values.seesOuter) { try values.value(targets[index]) }
    }
}

/// A value of an enclosing object.
final class OuterNode: ExpressionNode {
    private let levels: Int
    private let inner: ExpressionNode
    private let seesOuter: Bool
    private let lookup: RelatedLookup

    init(_ levels: Int, _ inner: QueryExpression, _ lookup: RelatedLookup) {
        self.levels = levels
        self.inner = .make(inner, lookup)
        seesOuter = inner.outerDepth > 0
        self.lookup = lookup
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        guard let outer = lookup.outer(levels) else { return .null }
        return try lookup.below(id, record, seesOuter) { try inner.value(outer.id, outer.record) }
    }
}
