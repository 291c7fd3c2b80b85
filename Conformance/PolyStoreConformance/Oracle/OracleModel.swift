import PolyStoreBackend

/// What a store should hold: rows in dictionaries. Nothing here is shared with the framework's planner, evaluator, order or encoding.
struct OracleModel {
    struct Pair: Hashable {
        let source: Int64
        let target: Int64
    }

    /// Where both ends of a pair stand in the lists of each other.
    struct Places: Hashable {
        var target: Int64 = 0
        var source: Int64 = 0
    }

    struct ObjectKey: Hashable {
        let entity: Int
        let id: Int64
    }

    let schema: ResolvedSchema
    /// By entity and id.
    var rows: [[Int64: [Value]]]
    /// By link table.
    var links: [[Pair: Places]]

    init(_ schema: ResolvedSchema) {
        self.schema = schema
        rows = schema.entities.map { _ in [:] }
        links = schema.links.map { _ in [:] }
    }

    /// The pairs of a table, in order.
    func pairs(_ table: LinkTable) -> [Pair] {
        links[table.index].keys.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
    }

    func ids(_ entity: Int) -> [Int64] { rows[entity].keys.sorted() }
}

/// A change set, whole: each object once, both ends of every relationship told.
struct OracleChanges {
    enum Change {
        case insert([Value])
        case update([Int: Value])
        case delete
    }

    /// In the order in which they are told.
    var keys: [OracleModel.ObjectKey] = []
    var changes: [OracleModel.ObjectKey: Change] = [:]
    var links: [ChangeSet.LinkChange] = []

    mutating func add(_ key: OracleModel.ObjectKey, _ change: Change) {
        if changes.updateValue(change, forKey: key) == nil { keys.append(key) }
    }

    /// As the framework takes it.
    func changeSet(_ schema: ResolvedSchema) throws -> ChangeSet {
        let set = ChangeSet(schema)
        for key in keys {
            let entity = schema.entities[key.entity]
            switch changes[key] {
            case .insert(let row): try set.insert(entity, id: key.id, row)
            case .update(let fields):
                var mask = FieldMask()
                for ordinal in fields.keys { mask.insert(ordinal) }
                try set.update(entity, id: key.id, mask: mask) { builder in
                    for (ordinal, value) in fields.sorted(by: { $0.key < $1.key }) { try builder.set(entity.fields[ordinal], value) }
                }
            case .delete: set.delete(entity, id: key.id)
            case nil: break
            }
        }
        for link in links { set.link(link) }
        return set
    }
}
