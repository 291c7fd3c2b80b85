import PolyStoreBackend

/// The state of all groups for one field, or for the objects themselves. Aggregates of the same field share an accumulator.
class Accumulator {
    /// Returns the accumulators that the aggregates need, and for each aggregate the index of its accumulator.
    static func make(_ aggregates: [Aggregate], _ entity: Entity) -> (all: [Accumulator], sources: [Int]) {
        var all: [Accumulator] = []
        var sources: [Int] = []
        var known: [String: Int] = [:]
        for aggregate in aggregates {
            let kind =
                switch aggregate.function {
                case .countDistinct, .standardDeviation, .median, .mode: aggregate.function.rawValue
                case .sum, .average: aggregate.field?.type == .decimal ? "decimals" : "values"
                default: "values"
                }
            // Every object has an id, so counting ids counts the objects.
            let isCount = aggregate.function == .count && aggregate.field?.isObjectID ?? true
            let name = isCount ? "objects" : "\(kind) \(aggregate.field?.index ?? -1)"
            if known[name] == nil {
                known[name] = all.count
                all.append(isCount ? Counter() : make(aggregate, entity))
            }
            sources.append(known[name] ?? 0)
        }
        return (all, sources)
    }

    private static func make(_ aggregate: Aggregate, _ entity: Entity) -> Accumulator {
        guard let field = aggregate.field else { return Counter() }
        switch aggregate.function {
        case .countDistinct: return DistinctCounter(field, entity)
        case .standardDeviation: return field.type.physical == .real ? RealDeviation(field) : IntegerDeviation(field)
        case .median: return field.type.physical == .real ? RealMedian(field) : IntegerMedian(field)
        case .mode: return ModeCounter(field)
        case .sum, .average: if field.type == .decimal { return DecimalStatistics(field) }
        default: break
        }
        switch field.type.physical {
        case .real: return RealStatistics(field)
        case .integer: return IntegerStatistics(field)
        case .text, .blob: return ValueStatistics(field, entity)
        }
    }

    func grow() {}
    func add(_ group: Int, _ id: Int64, _ record: RecordView) {}
    /// Adds the selected rows of a batch.
    func add(_ batch: RecordBatch) {
        for position in 0..<batch.selected {
            let row = Int(batch.selection[position])
            add(Int(batch.groups[position]), batch.ids[row], batch.view(row))
        }
    }
    func value(_ function: Aggregate.Function, _ group: Int) throws -> Value { .null }
}

private final class Counter: Accumulator {
    private let counts = Slots<Int64>()

    override func grow() { counts.append(0) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) { counts.base[group] &+= 1 }
    override func add(_ batch: RecordBatch) {
        let counts = counts.base
        for position in 0..<batch.selected { counts[Int(batch.groups[position])] &+= 1 }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { .integer(counts.base[group]) }
}

private final class DistinctCounter: Accumulator {
    private let field: FieldReference
    private let entity: Entity
    private var values: [Set<Value>] = []

    init(_ field: FieldReference, _ entity: Entity) {
        self.field = field
        self.entity = entity
    }

    override func grow() { values.append([]) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        let value = field.isObjectID ? .integer(id) : record.value(entity.fields[field.index])
        if !value.isNull { values[group].insert(value) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { .integer(Int64(values[group].count)) }
}

private final class IntegerStatistics: Accumulator {
    private struct State {
        // Cannot overflow: 2^63 rows of the greatest value fit.
        var sum: Int128 = 0
        var count: Int64 = 0
        var least: Int64 = 0
        var greatest: Int64 = 0
    }

    private let field: FieldReference
    private let index: Int
    /// A mask that flips the sign bit of unsigned values, so that they can be compared as signed integers.
    private let flip: Int64
    private let states = Slots<State>()

    init(_ field: FieldReference) {
        self.field = field
        index = field.index
        flip = field.isUnsigned ? .min : 0
    }

    override func grow() { states.append(State()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if index >= 0, record.isNull(index) { return }
        take(index < 0 ? id : record.integer(index), states.base + group)
    }
    override func add(_ batch: RecordBatch) {
        guard index >= 0 else { return super.add(batch) }
        let null = NullBit(index)
        let states = states.base
        batch.layout.withIntegers(of: index) { read in
            for position in 0..<batch.selected {
                let record = batch.record(Int(batch.selection[position]))
                if null.isNull(record) { continue }
                take(read(record), states + Int(batch.groups[position]))
            }
        }
    }
    @inline(__always)
    private func take(_ value: Int64, _ state: UnsafeMutablePointer<State>) {
        let ordered = value ^ flip
        state.pointee.sum &+= flip == 0 ? Int128(value) : Int128(UInt64(bitPattern: value))
        if state.pointee.count == 0 {
            (state.pointee.least, state.pointee.greatest) = (ordered, ordered)
        } else if ordered < state.pointee.least {
            state.pointee.least = ordered
        } else if ordered > state.pointee.greatest {
            state.pointee.greatest = ordered
        }
        state.pointee.count &+= 1
    }
    override func value(_ function: Aggregate.Function, _ group: Int) throws -> Value {
        let state = states.base[group]
        switch function {
        case .count, .countDistinct: return .integer(state.count)
        case .average: return state.count == 0 ? .null : .real(Double(state.sum) / Double(state.count))
        case .minimum: return state.count == 0 ? .null : .integer(state.least ^ flip)
        case .maximum: return state.count == 0 ? .null : .integer(state.greatest ^ flip)
        case .sum:
            if field.isUnsigned, let fits = UInt64(exactly: state.sum) { return .integer(Int64(bitPattern: fits)) }
            if !field.isUnsigned, let fits = Int64(exactly: state.sum) { return .integer(fits) }
            throw StoreError(
                .invalidValue,
                "The sum of \(field.name) is \(state.sum), which does not fit 64 bits; ask for the average and the count instead.",
                attribute: field.name)
        case .standardDeviation, .median, .mode: return .null  // have their own accumulators
        }
    }
}

/// Statistics of reals. Rounding errors are summed separately (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen",
/// 1974), so that the result does not depend on the order of the rows, which differs between backends.
private final class RealStatistics: Accumulator {
    private struct State {
        var sum = RealSum()
        var count: Int64 = 0
        var least = 0.0
        var greatest = 0.0
    }

    private let field: Int
    private let states = Slots<State>()

    init(_ field: FieldReference) { self.field = field.index }

    override func grow() { states.append(State()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if record.isNull(field) { return }
        Self.take(record.real(field), states.base + group)
    }
    override func add(_ batch: RecordBatch) {
        let null = NullBit(field)
        let states = states.base
        batch.layout.withReals(of: field) { read in
            for position in 0..<batch.selected {
                let record = batch.record(Int(batch.selection[position]))
                if null.isNull(record) { continue }
                Self.take(read(record), states + Int(batch.groups[position]))
            }
        }
    }

    @inline(__always)
    private static func take(_ value: Double, _ state: UnsafeMutablePointer<State>) {
        state.pointee.sum.add(value)
        if state.pointee.count == 0 {
            (state.pointee.least, state.pointee.greatest) = (value, value)
        } else if value > state.pointee.least, value <= state.pointee.greatest {
            // Within the current bounds: nothing changes. NaN is ordered below every number and is handled before.
        } else {
            if Order.of(value, state.pointee.least) < 0 { state.pointee.least = value }
            if Order.of(value, state.pointee.greatest) > 0 { state.pointee.greatest = value }
        }
        state.pointee.count &+= 1
    }

    override func value(_ function: Aggregate.Function, _ group: Int) -> Value {
        let state = states.base[group]
        let exact = state.sum.total
        return switch function {
        case .count, .countDistinct: .integer(state.count)
        case .sum: .real(Value.normalized(exact))
        case .average: state.count == 0 ? .null : .real(Value.normalized(exact / Double(state.count)))
        case .minimum: state.count == 0 ? .null : .real(state.least)
        case .maximum: state.count == 0 ? .null : .real(state.greatest)
        case .standardDeviation, .median, .mode: .null  // have their own accumulators
        }
    }
}

/// Statistics of text and data.
private final class ValueStatistics: Accumulator {
    private let field: Field
    private var states: [(count: Int64, least: Value, greatest: Value)] = []

    init(_ field: FieldReference, _ entity: Entity) { self.field = entity.fields[field.index] }

    override func grow() { states.append((0, .null, .null)) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        let value = record.value(field)
        if value.isNull { return }
        let state = states[group]
        if state.count == 0 || value.order(to: state.least, unsigned: false) < 0 { states[group].least = value }
        if state.count == 0 || value.order(to: state.greatest, unsigned: false) > 0 { states[group].greatest = value }
        states[group].count += 1
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value {
        switch function {
        case .minimum: states[group].least
        case .maximum: states[group].greatest
        default: .integer(states[group].count)
        }
    }
}
