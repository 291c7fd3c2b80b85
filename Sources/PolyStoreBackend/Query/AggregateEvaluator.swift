/// Works out aggregates over records as they come, without making objects: the meaning that every backend must have.
public final class AggregateEvaluator {
    private let request: AggregateRequest
    private let groups: GroupTable
    private let accumulators: [Accumulator]
    /// For each aggregate, whose answer it is.
    private let sources: [Int]

    public init(_ request: AggregateRequest) {
        self.request = request
        groups = GroupTable.make(request.groupBy, request.entity)
        (accumulators, sources) = Accumulator.make(request.aggregates, request.entity)
        if request.groupBy.isEmpty { _ = groups.add() }
        for accumulator in accumulators where request.groupBy.isEmpty { accumulator.grow() }
    }

    /// Takes in every row of a walk.
    public func add(_ cursor: RecordCursor) throws {
        while try cursor.next() { add(id: cursor.id, cursor.record) }
    }

    /// Takes in one row; at least the fields of ``AggregateRequest/source`` must be there.
    public func add(id: Int64, _ record: RecordView) {
        let known = groups.count
        let group = groups.group(of: id, record)
        if groups.count > known { for accumulator in accumulators { accumulator.grow() } }
        for accumulator in accumulators { accumulator.add(group, id, record) }
    }

    private func values(_ group: Int) throws -> [Value] {
        try zip(request.aggregates, sources).map { try accumulators[$1].value($0.function, group) }
    }

    /// The groups in ascending order, null first.
    /// - Throws: `invalidValue` for a sum of integers that does not fit the field's widest type.
    public func finish() throws -> [AggregateRow] {
        var rows: [AggregateRow] = []
        rows.reserveCapacity(groups.count)
        for group in 0..<groups.count {
            rows.append(AggregateRow(group: groups.key(group), values: try values(group)))
        }
        rows.sort { left, right in
            for (index, field) in request.groupBy.enumerated() {
                let order = left.group[index].order(to: right.group[index], unsigned: field.isUnsigned)
                if order != 0 { return order < 0 }
            }
            return false
        }
        return rows
    }
}

// MARK: - Groups

/// Numbers the groups as they turn up.
private class GroupTable {
    private(set) final var count = 0

    static func make(_ fields: [FieldReference], _ entity: Entity) -> GroupTable {
        if fields.isEmpty { return GroupTable() }
        if fields.count == 1, !fields[0].isObjectID, fields[0].type.physical == .integer { return IntegerGroups(fields[0].ordinal) }
        return ValueGroups(fields, entity)
    }

    final func add() -> Int {
        count += 1
        return count - 1
    }

    func group(of id: Int64, _ record: RecordView) -> Int { 0 }
    func key(_ group: Int) -> [Value] { [] }
}

/// By one integer field: the common case, and ten times as fast.
private final class IntegerGroups: GroupTable {
    private let field: Int
    private var keys: [Value] = []
    private var null = -1
    /// Groups of small numbers by number, -1 where there is none yet; of others in a dictionary.
    // Of one thread, in one step each.
    @exclusivity(unchecked) private var small = ContiguousArray<Int>(repeating: -1, count: 1024)
    private var others: [Int64: Int] = [:]

    init(_ field: Int) { self.field = field }

    override func group(of id: Int64, _ record: RecordView) -> Int {
        if record.isNull(field) {
            if null < 0 { null = add(.null) }
            return null
        }
        let value = record.integer(field)
        if value >= 0, value < 1024 {
            let group = small[Int(value)]
            if group >= 0 { return group }
            let new = add(.integer(value))
            small[Int(value)] = new
            return new
        }
        if let group = others[value] { return group }
        let new = add(.integer(value))
        others[value] = new
        return new
    }

    private func add(_ key: Value) -> Int {
        keys.append(key)
        return add()
    }

    override func key(_ group: Int) -> [Value] { [keys[group]] }
}

/// By any fields.
private final class ValueGroups: GroupTable {
    private let fields: [FieldReference]
    private let entity: Entity
    private var keys: [[Value]] = []
    private var numbers: [[Value]: Int] = [:]

    init(_ fields: [FieldReference], _ entity: Entity) {
        self.fields = fields
        self.entity = entity
    }

    override func group(of id: Int64, _ record: RecordView) -> Int {
        let key = fields.map { $0.isObjectID ? .integer(id) : record.value(entity.fields[$0.ordinal]) }
        if let group = numbers[key] { return group }
        numbers[key] = keys.count
        keys.append(key)
        return add()
    }

    override func key(_ group: Int) -> [Value] { keys[group] }
}

// MARK: - Accumulators

/// What is kept for every group, of one field or of the objects themselves; several aggregates of one field share it.
private class Accumulator {
    /// What the aggregates of a request need, and for each aggregate where its answer comes from.
    static func make(_ aggregates: [Aggregate], _ entity: Entity) -> (all: [Accumulator], sources: [Int]) {
        var all: [Accumulator] = []
        var sources: [Int] = []
        var known: [String: Int] = [:]
        for aggregate in aggregates {
            let kind = aggregate.function == .countDistinct ? "distinct" : "values"
            // Every object has an id, so counting ids is counting objects.
            let isCount = aggregate.function == .count && aggregate.field?.isObjectID ?? true
            let name = isCount ? "objects" : "\(kind) \(aggregate.field?.ordinal ?? -1)"
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
        if aggregate.function == .countDistinct { return DistinctCounter(field, entity) }
        switch field.type.physical {
        case .real: return RealStatistics(field)
        case .integer: return IntegerStatistics(field)
        case .text, .blob: return ValueStatistics(field, entity)
        }
    }

    func grow() {}
    func add(_ group: Int, _ id: Int64, _ record: RecordView) {}
    func value(_ function: Aggregate.Function, _ group: Int) throws -> Value { .null }
}

private final class Counter: Accumulator {
    // Of one thread, in one step each.
    @exclusivity(unchecked) private var counts: ContiguousArray<Int64> = []

    override func grow() { counts.append(0) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) { counts[group] &+= 1 }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { .integer(counts[group]) }
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
        let value = field.isObjectID ? .integer(id) : record.value(entity.fields[field.ordinal])
        if !value.isNull { values[group].insert(value) }
    }
    override func value(_ function: Aggregate.Function, _ group: Int) -> Value { .integer(Int64(values[group].count)) }
}

private final class IntegerStatistics: Accumulator {
    private struct State {
        // 2^63 rows of the greatest value would still fit.
        var sum: Int128 = 0
        var count: Int64 = 0
        var least: Int64 = 0
        var greatest: Int64 = 0
    }

    private let field: FieldReference
    private let ordinal: Int
    /// Turned over in unsigned values, so that signed order is theirs.
    private let flip: Int64
    // Of one thread, in one step each.
    @exclusivity(unchecked) private var states: ContiguousArray<State> = []

    init(_ field: FieldReference) {
        self.field = field
        ordinal = field.ordinal
        flip = field.isUnsigned ? .min : 0
    }

    override func grow() { states.append(State()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if ordinal >= 0, record.isNull(ordinal) { return }
        let value = ordinal < 0 ? id : record.integer(ordinal)
        let ordered = value ^ flip
        states[group].sum &+= flip == 0 ? Int128(value) : Int128(UInt64(bitPattern: value))
        if states[group].count == 0 {
            (states[group].least, states[group].greatest) = (ordered, ordered)
        } else if ordered < states[group].least {
            states[group].least = ordered
        } else if ordered > states[group].greatest {
            states[group].greatest = ordered
        }
        states[group].count &+= 1
    }
    override func value(_ function: Aggregate.Function, _ group: Int) throws -> Value {
        let state = states[group]
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
        }
    }
}

/// With the rounding errors summed apart (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974), so that
/// the order of the rows, which differs from backend to backend, does not show.
private final class RealStatistics: Accumulator {
    private struct State {
        var sum = 0.0
        var error = 0.0
        /// The sum of values so great that a few of them could overflow, divided by 2^64.
        var huge = 0.0
        var hugeError = 0.0
        var count: Int64 = 0
        var least = 0.0
        var greatest = 0.0
    }

    private let field: Int
    // Of one thread, in one step each.
    @exclusivity(unchecked) private var states: ContiguousArray<State> = []

    init(_ field: FieldReference) { self.field = field.ordinal }

    override func grow() { states.append(State()) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if record.isNull(field) { return }
        let value = record.real(field)
        if value.magnitude < 0x1p960 || !value.isFinite {
            Self.add(value, &states[group].sum, &states[group].error)
        } else {
            Self.add(value * 0x1p-64, &states[group].huge, &states[group].hugeError)
        }
        if states[group].count == 0 {
            (states[group].least, states[group].greatest) = (value, value)
        } else if value > states[group].least, value <= states[group].greatest {
            // Between what is known: nothing changes. NaN, which is below every number, is never here.
        } else {
            if Order.of(value, states[group].least) < 0 { states[group].least = value }
            if Order.of(value, states[group].greatest) > 0 { states[group].greatest = value }
        }
        states[group].count &+= 1
    }

    @inline(__always)
    private static func add(_ value: Double, _ sum: inout Double, _ error: inout Double) {
        let new = sum + value
        let virtual = new - sum
        error += (sum - (new - virtual)) + (value - virtual)
        sum = new
    }

    private static func total(_ state: State) -> Double {
        // Once it is infinite or NaN the errors mean nothing.
        guard state.sum.isFinite else { return state.sum }
        let small = state.sum + state.error
        let huge = state.huge + state.hugeError
        return huge == 0 ? small : (huge + small * 0x1p-64) * 0x1p64
    }

    override func value(_ function: Aggregate.Function, _ group: Int) -> Value {
        let state = states[group]
        let exact = Self.total(state)
        return switch function {
        case .count, .countDistinct: .integer(state.count)
        case .sum: .real(Value.normalized(exact))
        case .average: state.count == 0 ? .null : .real(Value.normalized(exact / Double(state.count)))
        case .minimum: state.count == 0 ? .null : .real(state.least)
        case .maximum: state.count == 0 ? .null : .real(state.greatest)
        }
    }
}

/// Of text and data.
private final class ValueStatistics: Accumulator {
    private let field: Field
    private var states: [(count: Int64, least: Value, greatest: Value)] = []

    init(_ field: FieldReference, _ entity: Entity) { self.field = entity.fields[field.ordinal] }

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

extension ReadTransaction {
    /// On the records of a walk; a backend that can do better implements it.
    public func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
        try request.validate()
        let evaluator = AggregateEvaluator(request)
        let cursor = try fetch(request.source)
        defer { cursor.close() }
        try evaluator.add(cursor)
        return try evaluator.finish()
    }
}
