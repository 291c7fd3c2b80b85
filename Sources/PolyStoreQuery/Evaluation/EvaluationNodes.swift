import PolyStoreBackend

/// The truth value of a condition: true, false, or unknown if null is involved.
enum Ternary {
    case `true`, `false`, unknown

    init(_ value: Bool) { self = value ? .true : .false }
}

class EvaluationNode {
    func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary { .unknown }
}

final class ConstantNode: EvaluationNode {
    let value: Ternary
    init(_ value: Ternary) { self.value = value }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary { value }
}

final class IDNode: EvaluationNode {
    let comparison: ComparisonOperator
    let constant: Int64
    init(_ comparison: ComparisonOperator, _ constant: Int64) {
        self.comparison = comparison
        self.constant = constant
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary { Ternary(comparison.accepts(Order.of(id, constant))) }
}

final class IntegerNode: EvaluationNode {
    let field: Int
    let comparison: ComparisonOperator
    /// A mask that flips the sign bit of unsigned values, so that they can be compared as signed integers.
    let flip: Int64
    let constant: Int64
    init(_ field: FieldReference, _ comparison: ComparisonOperator, _ constant: Int64) {
        self.field = field.index
        self.comparison = comparison
        flip = field.isUnsigned ? .min : 0
        self.constant = constant ^ flip
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        record.isNull(field) ? .unknown : Ternary(comparison.accepts(Order.of(record.integer(field) ^ flip, constant)))
    }
}

final class RealNode: EvaluationNode {
    let field: Int
    let comparison: ComparisonOperator
    let constant: Double
    init(_ field: Int, _ comparison: ComparisonOperator, _ constant: Double) {
        self.field = field
        self.comparison = comparison
        self.constant = constant
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        record.isNull(field) ? .unknown : Ternary(comparison.accepts(Order.of(record.real(field), constant)))
    }
}

final class BytesNode: EvaluationNode {
    let field: Int
    let comparison: ComparisonOperator
    let constant: [UInt8]
    init(_ field: Int, _ comparison: ComparisonOperator, _ constant: [UInt8]) {
        self.field = field
        self.comparison = comparison
        self.constant = constant
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        if record.isNull(field) { return .unknown }
        let bytes = record.bytes(field)
        return constant.withUnsafeBytes { Ternary(comparison.accepts(Order.of(bytes, $0))) }
    }
}

final class CompareFieldsNode: EvaluationNode {
    let left: FieldReference
    let comparison: ComparisonOperator
    let right: FieldReference
    init(_ left: FieldReference, _ comparison: ComparisonOperator, _ right: FieldReference) {
        self.left = left
        self.comparison = comparison
        self.right = right
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        if !left.isObjectID && record.isNull(left.index) || !right.isObjectID && record.isNull(right.index) { return .unknown }
        let order: Int
        switch left.type.physical {
        case .integer:
            let first = left.isObjectID ? id : record.integer(left.index)
            let second = right.isObjectID ? id : record.integer(right.index)
            order = left.isUnsigned ? Order.of(UInt64(bitPattern: first), UInt64(bitPattern: second)) : Order.of(first, second)
        case .real: order = Order.of(record.real(left.index), record.real(right.index))
        case .text, .blob: order = Order.of(record.bytes(left.index), record.bytes(right.index))
        }
        return Ternary(comparison.accepts(order))
    }
}

final class IsNullNode: EvaluationNode {
    let field: Int
    init(_ field: Int) { self.field = field }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary { Ternary(record.isNull(field)) }
}

final class OneOfNode: EvaluationNode {
    let field: FieldReference
    let values: Set<Value>
    let integers: Set<Int64>
    init(_ field: FieldReference, _ values: Set<Value>) {
        self.field = field
        self.values = values
        integers = Set(values.compactMap { if case .integer(let value) = $0 { value } else { nil } })
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        if field.isObjectID { return Ternary(integers.contains(id)) }
        if record.isNull(field.index) { return .unknown }
        switch field.type.physical {
        case .integer: return Ternary(integers.contains(record.integer(field.index)))
        case .real: return Ternary(values.contains(.real(record.real(field.index))))
        case .text: return Ternary(values.contains(.text(record.string(field.index))))
        case .blob: return Ternary(values.contains(.blob([UInt8](record.bytes(field.index)))))
        }
    }
}

final class TextNode: EvaluationNode {
    let field: Int
    let search: TextSearch
    init(_ field: Int, _ search: TextSearch) {
        self.field = field
        self.search = search
    }
    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        record.isNull(field) ? .unknown : Ternary(search.accepts(record.bytes(field)))
    }
}

/// A byte-wise substring search.
struct TextSearch {
    let operation: TextOperator
    let pattern: [UInt8]

    init(_ operation: TextOperator, _ pattern: [UInt8]) {
        self.operation = operation
        self.pattern = pattern
    }

    func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= pattern.count else { return false }
        switch operation {
        case .endsWith: return matches(bytes, at: bytes.count - pattern.count)
        case .contains:
            for start in 0...(bytes.count - pattern.count) where matches(bytes, at: start) { return true }
            return false
        default: return matches(bytes, at: 0)
        }
    }

    private func matches(_ bytes: UnsafeRawBufferPointer, at start: Int) -> Bool {
        pattern.withUnsafeBytes { Order.of(UnsafeRawBufferPointer(rebasing: bytes[start..<start + pattern.count]), $0) == 0 }
    }
}

final class AndNode: EvaluationNode {
    let parts: [EvaluationNode]
    init(_ parts: [EvaluationNode]) { self.parts = parts }
    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        var result = Ternary.true
        for part in parts {
            switch try part.evaluate(id, record) {
            case .false: return .false
            case .unknown: result = .unknown
            case .true: break
            }
        }
        return result
    }
}

final class OrNode: EvaluationNode {
    let parts: [EvaluationNode]
    init(_ parts: [EvaluationNode]) { self.parts = parts }
    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        var result = Ternary.false
        for part in parts {
            switch try part.evaluate(id, record) {
            case .true: return .true
            case .unknown: result = .unknown
            case .false: break
            }
        }
        return result
    }
}

final class NotNode: EvaluationNode {
    let part: EvaluationNode
    init(_ part: EvaluationNode) { self.part = part }
    override func evaluate(_ id: Int64, _ record: RecordView) throws -> Ternary {
        switch try part.evaluate(id, record) {
        case .true: .false
        case .false: .true
        case .unknown: .unknown
        }
    }
}
