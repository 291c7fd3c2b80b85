import PolyStoreBackend

/// What a store should hold: rows in dictionaries. Nothing here is shared with the framework's planner, evaluator, order or encoding.
struct OracleModel {
    struct Pair: Hashable {
        let source: Int64
        let target: Int64
    }

    struct ObjectKey: Hashable {
        let entity: Int
        let id: Int64
    }

    let schema: ResolvedSchema
    /// By entity and id.
    var rows: [[Int64: [Value]]]
    /// By link table.
    var links: [Set<Pair>]

    init(_ schema: ResolvedSchema) {
        self.schema = schema
        rows = schema.entities.map { _ in [:] }
        links = schema.links.map { _ in [] }
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

extension OracleModel {
    /// The whole change set of some edits.
    func completed(_ edits: [OracleEdit]) -> OracleChanges {
        var result = OracleChanges()
        for edit in edits {
            switch edit {
            case .insert(let entity, let id, let row):
                let key = ObjectKey(entity: entity, id: id)
                if result.changes[key] == nil { result.add(key, .insert(row)) }
            case .update(let entity, let id, let fields):
                let key = ObjectKey(entity: entity, id: id)
                if result.changes[key] == nil { result.add(key, .update(fields)) }
            case .delete(let entity, let id):
                let key = ObjectKey(entity: entity, id: id)
                if result.changes[key] == nil { result.add(key, .delete) }
            case .link: break
            }
        }
        dropDanglingReferences(&result)
        for key in result.keys { if case .delete = result.changes[key] { clearReferences(to: key, &result) } }
        addLinks(edits, &result)
        return result
    }

    private func exists(_ key: ObjectKey, after result: OracleChanges) -> Bool {
        switch result.changes[key] {
        case .insert: true
        case .delete: false
        case .update, nil: rows[key.entity][key.id] != nil
        }
    }

    private func dropDanglingReferences(_ result: inout OracleChanges) {
        for key in result.keys {
            for (ordinal, destination) in references(of: key.entity) {
                func isDangling(_ value: Value?) -> Bool {
                    guard case .integer(let target) = value else { return false }
                    return !exists(ObjectKey(entity: destination, id: target), after: result)
                }
                switch result.changes[key] {
                case .insert(var row) where isDangling(row[ordinal]):
                    row[ordinal] = .null
                    result.changes[key] = .insert(row)
                case .update(var fields) where isDangling(fields[ordinal]):
                    fields[ordinal] = .null
                    result.changes[key] = .update(fields)
                default: break
                }
            }
        }
    }

    /// The to-one fields of an entity, and where they lead.
    private func references(of entity: Int) -> [(ordinal: Int, destination: Int)] {
        schema.entities[entity].relationships.compactMap { relationship in
            if case .foreignKey(let field) = relationship.storage { (field, relationship.destination) } else { nil }
        }
    }

    private func clearReferences(to key: ObjectKey, _ result: inout OracleChanges) {
        for entity in schema.entities.indices {
            for (ordinal, destination) in references(of: entity) where destination == key.entity {
                for id in ids(entity) {
                    guard case .integer(key.id) = rows[entity][id]?[ordinal] else { continue }
                    let referrer = ObjectKey(entity: entity, id: id)
                    switch result.changes[referrer] {
                    case nil: result.add(referrer, .update([ordinal: .null]))
                    case .update(var fields) where fields[ordinal] == nil:
                        fields[ordinal] = .null
                        result.changes[referrer] = .update(fields)
                    default: break
                    }
                }
            }
        }
        for table in schema.links {
            for pair in links[table.index].sorted(by: { ($0.source, $0.target) < ($1.source, $1.target) })
            where table.source == key.entity && pair.source == key.id || table.target == key.entity && pair.target == key.id {
                let link = ChangeSet.LinkChange(table: table.index, source: pair.source, target: pair.target, isAddition: false)
                if !result.links.contains(link) { result.links.append(link) }
            }
        }
    }

    private func addLinks(_ edits: [OracleEdit], _ result: inout OracleChanges) {
        func add(_ table: Int, _ source: Int64, _ target: Int64, _ isAddition: Bool) {
            let isKnown = result.links.contains { $0.table == table && $0.source == source && $0.target == target }
            if !isKnown { result.links.append(.init(table: table, source: source, target: target, isAddition: isAddition)) }
        }
        for case .link(let number, let source, let target, let isAddition) in edits {
            let table = schema.links[number]
            guard exists(ObjectKey(entity: table.source, id: source), after: result),
                exists(ObjectKey(entity: table.target, id: target), after: result)
            else { continue }
            add(number, source, target, isAddition)
            if table.isSymmetric { add(number, target, source, isAddition) }
        }
    }
}
