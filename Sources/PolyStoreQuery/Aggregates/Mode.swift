import PolyStoreBackend

/// The numbers of occurrences of values.
struct ValueCounts {
    private var counts: [Value: Int] = [:]

    init() {}

    init(_ values: [Value]) { for value in values { add(value) } }

    /// Counts a value. Null is ignored.
    mutating func add(_ value: Value) { if !value.isNull { counts[value, default: 0] += 1 } }

    /// Returns the most frequent value, the least of several; null for no values.
    func mode(isUnsigned: Bool) -> Value {
        let most = counts.max { left, right in
            left.value == right.value ? left.key.order(to: right.key, unsigned: isUnsigned) > 0 : left.value < right.value
        }
        return most?.key ?? .null
    }
}

/// The state of modes for each group.
final class ModeCounter: Accumulator {
    private let field: FieldReference
    private var counts: [ValueCounts] = []

    init(_ field: FieldReference) { self.field = field }

    override func grow() { counts.append(ValueCounts()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) { counts[group].add(record.value(field, id: id)) }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { counts[group].mode(isUnsigned: field.isUnsigned) }
}
