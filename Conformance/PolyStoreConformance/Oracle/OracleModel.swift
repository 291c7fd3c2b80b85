import PolyStoreBackend

/// The expected contents of a store: rows in dictionaries. Shares no code with the framework's planner, evaluator, sort or encoding.
struct OracleModel {
    struct Pair: Hashable {
        let source: Int64
        let target: Int64
    }

    /// The positions of both ends of a pair in each other's lists.
    struct Places: Hashable {
        var target: Int64 = 0
        var source: Int64 = 0
    }

    struct ObjectKey: Hashable {
        let entity: Int
        let id: Int64
    }

    let schema: ResolvedSchema
    /// The rows, by entity and id.
    var rows: [[Int64: [Value]]]
    /// The links, by link table.
    var links: [[Pair: Places]]

    init(_ schema: ResolvedSchema) {
        self.schema = schema
        rows = schema.entities.map { _ in [:] }
        links = schema.links.map { _ in [:] }
    }

    /// Returns the pairs of a table, in order.
    func pairs(_ table: LinkTable) -> [Pair] {
        links[table.index].keys.sorted { ($0.source, $0.target) < ($1.source, $1.target) }
    }

    func ids(_ entity: Int) -> [Int64] { rows[entity].keys.sorted() }
}

/// A complete change set: each object once, with both ends of every relationship.
struct OracleChanges {
    enum Change {
        case insert([Value])
        case update([Int: Value])
        case delete
    }

    /// The changed objects in the order of their changes.
    var keys: [OracleModel.ObjectKey] = []
    var changes: [OracleModel.ObjectKey: Change] = [:]
    var links: [ChangeSet.LinkChange] = []

    mutating func add(_ key: OracleModel.ObjectKey, _ change: Change) {
        if changes.updateValue(change, forKey: key) == nil { keys.append(key) }
    }

    /// Returns the change set in the framework's form.
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
