import PolyStoreBackend

// The state of standard deviations and medians for each group.

final class IntegerDeviation: Accumulator {
    private let field: FieldReference
    private let states = Slots<IntegerSpread>()

    init(_ field: FieldReference) { self.field = field }

    override func grow() { states.append(IntegerSpread()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if let integer = record.wideInteger(field, id: id) { states.base[group].add(integer) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { states.base[group].deviation }
}

final class RealDeviation: Accumulator {
    private let field: Int
    private let states = Slots<RealSpread>()

    init(_ field: FieldReference) { self.field = field.index }

    override func grow() { states.append(RealSpread()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if !record.isNull(field) { states.base[group].add(record.real(field)) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { states.base[group].deviation }
}

final class IntegerMedian: Accumulator {
    private let field: FieldReference
    /// The bit patterns of the values of each group.
    private var values: [[Int64]] = []

    init(_ field: FieldReference) { self.field = field }

    override func grow() { values.append([]) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if field.isObjectID {
            values[group].append(id)
        } else if !record.isNull(field.index) {
            values[group].append(record.integer(field.index))
        }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value {
        field.isUnsigned ? Median.of(values[group].map { UInt64(bitPattern: $0) }) : Median.of(values[group])
    }
}

final class RealMedian: Accumulator {
    private let field: Int
    private var values: [[Double]] = []

    init(_ field: FieldReference) { self.field = field.index }

    override func grow() { values.append([]) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if !record.isNull(field) { values[group].append(record.real(field)) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { Median.of(values[group]) }
}

extension RecordView {
    /// Returns an integer, signed or unsigned according to the field type; nil for null.
    fileprivate func wideInteger(_ field: FieldReference, id: Int64) -> Int128? {
        if field.isObjectID { return Int128(id) }
        if isNull(field.index) { return nil }
        let integer = integer(field.index)
        return field.isUnsigned ? Int128(UInt64(bitPattern: integer)) : Int128(integer)
    }
}
