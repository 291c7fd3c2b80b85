import PolyStoreBackend

/// A test of one numeric field in a form that needs few instructions. Null never passes.
struct FieldTest {
    enum Kind: UInt8 {
        /// Whether an integer, with its sign bit flipped if it is unsigned, is inside or outside a range of a given length from the lowest value.
        case within, outside
        case greater, greaterOrEqual, less, lessOrEqual, equal, notEqual
        case isNotNull
    }

    private let kind: Kind
    /// The field index; −1 for the id.
    private let field: Int
    private let flip: Int64
    private let low: Int64
    private let span: UInt64
    private let constant: Double

    private init(_ kind: Kind, _ field: Int, flip: Int64 = 0, low: Int64 = 0, span: UInt64 = 0, constant: Double = 0) {
        self.kind = kind
        self.field = field
        self.flip = flip
        self.low = low
        self.span = span
        self.constant = constant
    }

    /// - Returns: nil if the predicate has another form.
    init?(_ predicate: QueryPredicate) {
        if case .not(let part) = predicate.node {
            guard case .isNull(let field)? = part.fieldCondition, !field.isObjectID else { return nil }
            self.init(.isNotNull, field.index)
            return
        }
        switch predicate.fieldCondition {
        case .compare(let field, let comparison, .integer(let constant))?: self.init(field, comparison, constant)
        case .compare(let field, let comparison, .real(let constant))? where !constant.isNaN:
            self.init(comparison.realKind, field.index, constant: constant)
        default: return nil
        }
    }

    private init?(_ field: FieldReference, _ comparison: ComparisonOperator, _ constant: Int64) {
        let flip: Int64 = field.isUnsigned ? .min : 0
        let constant = constant ^ flip
        var (low, high) = (Int64.min, Int64.max)
        switch comparison {
        case .equal, .notEqual: (low, high) = (constant, constant)
        case .lessOrEqual: high = constant
        case .greaterOrEqual: low = constant
        case .less:
            if constant == .min { return nil }
            high = constant - 1
        case .greater:
            if constant == .max { return nil }
            low = constant + 1
        }
        self.init(
            comparison == .notEqual ? .outside : .within, max(field.index, -1), flip: flip, low: low,
            span: UInt64(bitPattern: high &- low))
    }

    @inline(__always)
    private func isWithin(_ value: Int64) -> Bool { UInt64(bitPattern: (value ^ flip) &- low) <= span }

    func accepts(_ id: Int64, _ record: RecordView) -> Bool {
        if field < 0 { return isWithin(id) == (kind == .within) }
        if record.isNull(field) { return false }
        switch kind {
        case .within: return isWithin(record.integer(field))
        case .outside: return !isWithin(record.integer(field))
        case .isNotNull: return true
        // NaN is ordered below every number, so a value that is not above the constant is below it.
        case .greater: return record.real(field) > constant
        case .greaterOrEqual: return record.real(field) >= constant
        case .less: return !(record.real(field) >= constant)
        case .lessOrEqual: return !(record.real(field) > constant)
        case .equal: return record.real(field) == constant
        case .notEqual: return !(record.real(field) == constant)
        }
    }

    /// Deselects the rows of a batch that do not pass.
    func narrow(_ batch: RecordBatch) {
        let wanted = kind == .within
        if field < 0 { return batch.narrow { isWithin(batch.ids[$0]) == wanted } }
        let null = NullBit(field)
        switch kind {
        case .isNotNull: batch.narrow { !null.isNull(batch.record($0)) }
        case .within, .outside:
            batch.layout.withIntegers(of: field) { read in
                batch.narrow { row in
                    let record = batch.record(row)
                    return !null.isNull(record) & (isWithin(read(record)) == wanted)
                }
            }
        case .greater: reals(batch, null) { $0 > constant }
        case .greaterOrEqual: reals(batch, null) { $0 >= constant }
        case .less: reals(batch, null) { !($0 >= constant) }
        case .lessOrEqual: reals(batch, null) { !($0 > constant) }
        case .equal: reals(batch, null) { $0 == constant }
        case .notEqual: reals(batch, null) { !($0 == constant) }
        }
    }

    @inline(__always)
    private func reals(_ batch: RecordBatch, _ null: NullBit, _ accepts: (Double) -> Bool) {
        batch.layout.withReals(of: field) { read in
            batch.narrow { row in
                let record = batch.record(row)
                return !null.isNull(record) & accepts(read(record))
            }
        }
    }
}

extension Bool {
    /// Returns `left && right` without a branch.
    @inline(__always)
    fileprivate static func & (left: Bool, right: Bool) -> Bool { (UInt8(left ? 1 : 0) & UInt8(right ? 1 : 0)) != 0 }
}

extension ComparisonOperator {
    fileprivate var realKind: FieldTest.Kind {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        }
    }
}
