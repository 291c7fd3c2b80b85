import PolyStoreBackend

/// Assigns group numbers in the order in which groups first occur.
class GroupTable {
    private(set) final var count = 0

    static func make(_ fields: [FieldReference], _ entity: Entity) -> GroupTable {
        if fields.isEmpty { return SingleGroup() }
        if fields.count == 1, !fields[0].isObjectID, fields[0].type.physical == .integer { return IntegerGroups(fields[0].index) }
        return ValueGroups(fields, entity)
    }

    final func add() -> Int {
        count += 1
        return count - 1
    }

    func group(of id: Int64, _ record: RecordView) -> Int { 0 }
    func key(_ group: Int) -> [Value] { [] }

    /// Assigns a group number to each selected row of a batch.
    func number(_ batch: RecordBatch) {
        for position in 0..<batch.selected {
            let row = Int(batch.selection[position])
            batch.groups[position] = Int32(truncatingIfNeeded: group(of: batch.ids[row], batch.view(row)))
        }
    }
}

/// The single group of a request without grouping fields.
private final class SingleGroup: GroupTable {
    override func number(_ batch: RecordBatch) { batch.groups.update(repeating: 0, count: batch.selected) }
}

/// Groups by one integer field: the most common case, ten times as fast as ``ValueGroups``.
private final class IntegerGroups: GroupTable {
    private static let smallCount: Int64 = 1024
    private let field: Int
    private var keys: [Value] = []
    private var null = -1
    /// The group number of each small integer, or -1 if it has none yet. Other integers are in a dictionary.
    private let small: UnsafeMutablePointer<Int32>
    private var others: [Int64: Int] = [:]

    init(_ field: Int) {
        self.field = field
        small = .allocate(capacity: Int(Self.smallCount))
        small.initialize(repeating: -1, count: Int(Self.smallCount))
    }

    deinit { small.deallocate() }

    override func group(of id: Int64, _ record: RecordView) -> Int {
        record.isNull(field) ? groupOfNull() : group(of: record.integer(field))
    }

    override func number(_ batch: RecordBatch) {
        let null = NullBit(field)
        batch.layout.withIntegers(of: field) { read in
            for position in 0..<batch.selected {
                let record = batch.record(Int(batch.selection[position]))
                let value = read(record)
                if !null.isNull(record), UInt64(bitPattern: value) < UInt64(Self.smallCount), small[Int(value)] >= 0 {
                    batch.groups[position] = small[Int(value)]
                } else {
                    batch.groups[position] = Int32(truncatingIfNeeded: null.isNull(record) ? groupOfNull() : group(of: value))
                }
            }
        }
    }

    private func groupOfNull() -> Int {
        if null < 0 { null = add(.null) }
        return null
    }

    private func group(of value: Int64) -> Int {
        if value >= 0, value < Self.smallCount {
            let group = small[Int(value)]
            if group >= 0 { return Int(group) }
            let new = add(.integer(value))
            small[Int(value)] = Int32(truncatingIfNeeded: new)
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

/// Groups by any combination of fields.
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
        let key = fields.map { $0.isObjectID ? .integer(id) : record.value(entity.fields[$0.index]) }
        if let group = numbers[key] { return group }
        numbers[key] = keys.count
        keys.append(key)
        return add()
    }

    override func key(_ group: Int) -> [Value] { keys[group] }
}
