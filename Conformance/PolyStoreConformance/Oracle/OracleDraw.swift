import PolyStoreBackend
import SeededRandom

/// Draws the steps of a case. Keeps its own model, so that most steps are valid.
struct OracleDraw {
    var random: SplitMix64
    let schema: ResolvedSchema
    private var committed: OracleModel
    private var written: OracleModel?
    private let isPersistent: Bool
    /// An upper bound of most ids. Occasionally larger, to cover operations on many rows.
    private let reach: Int

    init(_ random: SplitMix64, _ schema: ResolvedSchema, isPersistent: Bool) {
        var random = random
        reach = random.once(in: 20) ? 200 : 40
        self.random = random
        self.schema = schema
        self.isPersistent = isPersistent
        committed = OracleModel(schema)
    }

    var model: OracleModel { written ?? committed }

    mutating func steps() -> [OracleStep] {
        var steps = [apply(inserting: reach > 40 ? 60 + random.below(40) : 6 + random.below(16)), .commit]
        committed = written ?? committed
        written = nil
        for _ in 0..<6 + random.below(6) {
            add(to: &steps)
            for _ in 0..<random.below(4) { steps.append(.ask(random.pick([.latest, .latest, .writer, .writer, .held]), query())) }
        }
        return steps
    }

    private mutating func add(to steps: inout [OracleStep]) {
        switch random.below(written == nil ? 9 : 12) {
        case 0...5: steps.append(apply(inserting: random.below(4)))
        case 6: steps.append(.reserveIDs(entity: random.below(schema.entities.count), count: 1 + random.below(5)))
        case 7: steps.append(.hold)
        case 8:
            // Rarely, because reopening takes as long as all other steps together.
            guard isPersistent, random.once(in: 5) else { return steps.append(.hold) }
            written = nil
            guard isSearched, random.once(in: 2) else { return steps.append(.reopen) }
            let kept = schema.entities.map { random.below($0.searchIndexes.count + 1) }
            guard case .apply(let edits) = apply(inserting: random.below(4)) else { return }
            steps.append(.reopenWithFewerIndexes(kept: kept, edits))
            committed = written ?? committed
            written = nil
        case 9:
            steps.append(.rollback)
            written = nil
        default:
            steps.append(.commit)
            committed = written ?? committed
            written = nil
        }
    }

    /// Draws a change set; in seven of eight cases, invalid edits are removed.
    private mutating func apply(inserting inserts: Int) -> OracleStep {
        let mayFail = random.once(in: 8)
        var edits: [OracleEdit] = []
        for _ in 0..<inserts { edits.append(insert(mayFail)) }
        for _ in 0..<random.below(5) { edits.append(update(mayFail)) }
        if random.once(in: 3) { edits += swap() }
        if random.once(in: 2) { for _ in 0..<1 + random.below(2) { edits.append(delete(mayFail)) } }
        // Edits of an object that an earlier edit changes are ignored, so the order varies.
        if random.once(in: 2) { edits.reverse() }
        for _ in 0..<(schema.links.isEmpty ? 0 : random.below(6)) { edits.append(link(edits)) }
        for _ in 0..<4 {
            var after = model
            guard let refusal = after.apply(after.completed(edits)) else {
                written = after
                return .apply(edits)
            }
            if mayFail { break }
            edits.removeAll { refusal.objects.contains($0) }
        }
        written = model
        return .apply(edits)
    }

    // MARK: Edits

    mutating func value(_ entity: Entity, _ field: Field, _ mayFail: Bool = false) -> Value {
        if field.relationship != nil, let destination = destination(entity, field) {
            return random.once(in: 3) ? .null : .integer(id(destination))
        }
        if entity.searchIndexes.contains(where: { $0.fields.contains(field.index) }) {
            return field.isOptional && random.once(in: 6) ? .null : .text(searchedText())
        }
        if field.isOptional ? random.once(in: 4) : mayFail && random.once(in: 12) { return .null }
        let isUnique = entity.indexes.contains { $0.isUnique && $0.fields.contains(field.index) }
        return isUnique && random.below(4) > 0 ? OracleValues.scarce(field.type, &random) : OracleValues.value(field.type, &random)
    }

    private func destination(_ entity: Entity, _ field: Field) -> Int? { field.relationship.map { entity.relationships[$0].destination } }

    /// Draws an id, mostly of an existing object.
    mutating func id(_ entity: Int) -> Int64 {
        let ids = model.ids(entity)
        return ids.isEmpty || random.once(in: 12) ? Int64(1 + random.below(reach)) : random.pick(ids)
    }

    private mutating func insert(_ mayFail: Bool) -> OracleEdit {
        let entity = random.pick(schema.entities)
        var id = Int64(1 + random.below(reach))
        if random.once(in: 20) { id += 1 << 40 }
        if !mayFail { while model.rows[entity.index][id] != nil { id += 1 } }
        var row: [Value] = []
        for field in entity.fields { row.append(value(entity, field, mayFail)) }
        return .insert(entity: entity.index, rowID: id, row: row)
    }

    private mutating func update(_ mayFail: Bool) -> OracleEdit {
        let entity = random.pick(schema.entities)
        var fields: [Int: Value] = [:]
        for field in random.pick(1 + random.below(3), of: entity.fields) { fields[field.index] = value(entity, field, mayFail) }
        return .update(entity: entity.index, rowID: id(entity.index), fields: fields)
    }

    /// Draws an exchange of values between two objects, of all or some fields of an index.
    private mutating func swap() -> [OracleEdit] {
        let entity = random.pick(schema.entities)
        let ids = random.pick(2, of: model.ids(entity.index))
        guard ids.count == 2, let first = model.rows[entity.index][ids[0]], let second = model.rows[entity.index][ids[1]] else { return [] }
        let unique = entity.indexes.filter(\.isUnique)
        let fields = unique.isEmpty ? random.pick(2, of: entity.fields).map(\.index) : random.pick(unique).fields
        return [
            .update(entity: entity.index, rowID: ids[0], fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, second[$0]) })),
            .update(entity: entity.index, rowID: ids[1], fields: Dictionary(uniqueKeysWithValues: fields.map { ($0, first[$0]) })),
        ]
    }

    private mutating func delete(_ mayFail: Bool) -> OracleEdit {
        let entity = random.below(schema.entities.count)
        return .delete(entity: entity, rowID: id(entity))
    }

    private mutating func link(_ edits: [OracleEdit]) -> OracleEdit {
        let table = random.pick(schema.links)
        if random.once(in: 3), let pair = model.pairs(table).first {
            return .link(
                table: table.index, source: pair.source, target: pair.target,
                isAddition: random.once(in: table.ordersTargets || table.ordersSources ? 2 : 4), positions: (position(), position()))
        }
        return .link(
            table: table.index, source: id(table.source, edits), target: id(table.target, edits), isAddition: random.below(5) > 0,
            positions: (position(), position()))
    }

    /// Draws a position or `nil`.
    private mutating func position() -> Int64? {
        switch random.below(8) {
        case 0: nil
        case 1: random.pick([.min, .max])
        default: Int64(random.below(9)) - 4
        }
    }

    /// Draws the id of an existing object or of one that is being inserted.
    private mutating func id(_ entity: Int, _ edits: [OracleEdit]) -> Int64 {
        var fresh: [Int64] = []
        for case .insert(entity, let id, _) in edits { fresh.append(id) }
        return fresh.isEmpty || random.once(in: 2) ? id(entity) : random.pick(fresh)
    }
}

extension Set<OracleModel.ObjectKey> {
    /// Returns whether the set contains the object of an edit.
    fileprivate func contains(_ edit: OracleEdit) -> Bool {
        switch edit {
        case .insert(let entity, let id, _), .update(let entity, let id, _), .delete(let entity, let id):
            contains(OracleModel.ObjectKey(entity: entity, id: id))
        case .link: false
        }
    }
}
