/// Works out aggregates over records as they come, without making objects: the meaning that every backend must have.
public final class AggregateEvaluator {
    private let request: AggregateRequest
    private let groups: GroupTable
    private let accumulators: [Accumulator]

    public init(_ request: AggregateRequest) {
        self.request = request
        groups = GroupTable.make(request.groupBy, request.entity)
        accumulators = request.aggregates.map { Accumulator.make($0, request.entity) }
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

    /// The groups in ascending order, null first.
    /// - Throws: `invalidValue` for a sum of integers that does not fit the field's widest type.
    public func finish() throws -> [AggregateRow] {
        var rows: [AggregateRow] = []
        rows.reserveCapacity(groups.count)
        for group in 0..<groups.count {
            rows.append(AggregateRow(group: groups.key(group), values: try accumulators.map { try $0.value(group) }))
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
    private var small = [Int](repeating: -1, count: 1024)
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

/// One aggregate for every group.
private class Accumulator {
    static func make(_ aggregate: Aggregate, _ entity: Entity) -> Accumulator {
        guard let field = aggregate.field else { return Counter(-1) }
        switch aggregate.function {
        // Every object has an id.
        case .count: return Counter(field.ordinal)
        case .countDistinct: return DistinctCounter(field, entity)
        case .minimum: return Extreme(field, entity, sign: -1)
        case .maximum: return Extreme(field, entity, sign: 1)
        case .sum, .average:
            let isAverage = aggregate.function == .average
            return field.type.physical == .real ? RealSum(field, isAverage) : IntegerSum(field, isAverage)
        }
    }

    func grow() {}
    func add(_ group: Int, _ id: Int64, _ record: RecordView) {}
    func value(_ group: Int) throws -> Value { .null }
}

private final class Counter: Accumulator {
    private let field: Int
    private var counts: [Int64] = []

    init(_ field: Int) { self.field = field }

    override func grow() { counts.append(0) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if field < 0 || !record.isNull(field) { counts[group] &+= 1 }
    }
    override func value(_ group: Int) -> Value { .integer(counts[group]) }
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
    override func value(_ group: Int) -> Value { .integer(Int64(values[group].count)) }
}

private final class IntegerSum: Accumulator {
    private let field: FieldReference
    private let isAverage: Bool
    private var sums: [(sum: Int128, count: Int64)] = []

    init(_ field: FieldReference, _ isAverage: Bool) {
        self.field = field
        self.isAverage = isAverage
    }

    override func grow() { sums.append((0, 0)) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if field.isObjectID {
            sums[group].sum += Int128(id)
        } else {
            if record.isNull(field.ordinal) { return }
            let value = record.integer(field.ordinal)
            // 2^63 rows of the greatest value would still fit.
            sums[group].sum += field.isUnsigned ? Int128(UInt64(bitPattern: value)) : Int128(value)
        }
        sums[group].count += 1
    }
    override func value(_ group: Int) throws -> Value {
        let (sum, count) = sums[group]
        if isAverage { return count == 0 ? .null : .real(Double(sum) / Double(count)) }
        if field.isUnsigned, let fits = UInt64(exactly: sum) { return .integer(Int64(bitPattern: fits)) }
        if !field.isUnsigned, let fits = Int64(exactly: sum) { return .integer(fits) }
        throw StoreError(
            .invalidValue, "The sum of \(field.name) is \(sum), which does not fit 64 bits; ask for the average and the count instead.",
            attribute: field.name)
    }
}

/// With the rounding errors summed apart (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974), so that
/// the order of the rows, which differs from backend to backend, does not show.
private final class RealSum: Accumulator {
    private let field: Int
    private let isAverage: Bool
    private var sums: [(sum: Double, error: Double, count: Int64)] = []

    init(_ field: FieldReference, _ isAverage: Bool) {
        self.field = field.ordinal
        self.isAverage = isAverage
    }

    override func grow() { sums.append((0, 0, 0)) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        if record.isNull(field) { return }
        let value = record.real(field)
        let old = sums[group].sum
        let new = old + value
        let virtual = new - old
        sums[group].error += (old - (new - virtual)) + (value - virtual)
        sums[group].sum = new
        sums[group].count &+= 1
    }
    override func value(_ group: Int) -> Value {
        let (sum, error, count) = sums[group]
        if isAverage && count == 0 { return .null }
        // Once it is infinite or NaN the errors mean nothing.
        let exact = sum.isFinite ? sum + error : sum
        return .real(Value.normalized(isAverage ? exact / Double(count) : exact))
    }
}

/// The least or the greatest value.
private final class Extreme: Accumulator {
    private let field: FieldReference
    private let declared: Field?
    /// −1 for the least, 1 for the greatest.
    private let sign: Int
    private var values: [Value] = []

    init(_ field: FieldReference, _ entity: Entity, sign: Int) {
        self.field = field
        declared = field.isObjectID ? nil : entity.fields[field.ordinal]
        self.sign = sign
    }

    override func grow() { values.append(.null) }
    override func add(_ group: Int, _ id: Int64, _ record: RecordView) {
        let value = declared.map { record.value($0) } ?? .integer(id)
        if value.isNull { return }
        if values[group].isNull || value.order(to: values[group], unsigned: field.isUnsigned) * sign > 0 { values[group] = value }
    }
    override func value(_ group: Int) -> Value { values[group] }
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
