import PolyStoreBackend

extension OracleModel {
    /// Returns the complete change set of some edits.
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
        let wishes = takePairings(&result)
        for key in result.keys { if case .delete = result.changes[key] { clearReferences(to: key, &result) } }
        for wish in wishes { pair(wish, &result) }
        addLinks(edits, &result)
        return result
    }

    // MARK: References

    private func exists(_ key: ObjectKey, after result: OracleChanges) -> Bool {
        switch result.changes[key] {
        case .insert: true
        case .delete: false
        case .update, nil: rows[key.entity][key.id] != nil
        }
    }

    private func dropDanglingReferences(_ result: inout OracleChanges) {
        for key in result.keys {
            for (fieldIndex, destination) in references(of: key.entity) {
                func isDangling(_ value: Value?) -> Bool {
                    guard case .integer(let target) = value else { return false }
                    return !exists(ObjectKey(entity: destination, id: target), after: result)
                }
                switch result.changes[key] {
                case .insert(var row) where isDangling(row[fieldIndex]):
                    row[fieldIndex] = .null
                    result.changes[key] = .insert(row)
                case .update(var fields) where isDangling(fields[fieldIndex]):
                    fields[fieldIndex] = .null
                    result.changes[key] = .update(fields)
                default: break
                }
            }
        }
    }

    /// Returns the to-one fields of an entity and their destinations.
    private func references(of entity: Int) -> [(fieldIndex: Int, destination: Int)] {
        schema.entities[entity].relationships.compactMap { relationship in
            if case .foreignKey(let field) = relationship.storage { (field, relationship.destination) } else { nil }
        }
    }

    private func clearReferences(to key: ObjectKey, _ result: inout OracleChanges) {
        for entity in schema.entities.indices {
            for (fieldIndex, destination) in references(of: entity) where destination == key.entity {
                for id in ids(entity) {
                    guard case .integer(key.id) = rows[entity][id]?[fieldIndex] else { continue }
                    let referrer = ObjectKey(entity: entity, id: id)
                    switch result.changes[referrer] {
                    case nil: result.add(referrer, .update([fieldIndex: .null]))
                    case .update(var fields) where fields[fieldIndex] == nil:
                        fields[fieldIndex] = .null
                        result.changes[referrer] = .update(fields)
                    default: break
                    }
                }
            }
        }
        for table in schema.links {
            for pair in pairs(table)
            where table.source == key.entity && pair.source == key.id || table.target == key.entity && pair.target == key.id {
                let link = ChangeSet.LinkChange(table: table.index, source: pair.source, target: pair.target, isAddition: false)
                if !result.links.contains(link) { result.links.append(link) }
            }
        }
    }

    private func addLinks(_ edits: [OracleEdit], _ result: inout OracleChanges) {
        func add(_ table: Int, _ source: Int64, _ target: Int64, _ isAddition: Bool, _ positions: (target: Int64?, source: Int64?)) {
            let isKnown = result.links.contains { $0.table == table && $0.source == source && $0.target == target }
            if isKnown { return }
            result.links.append(
                .init(
                    table: table, source: source, target: target, isAddition: isAddition, targetPosition: positions.target,
                    sourcePosition: positions.source))
        }
        for case .link(let number, let source, let target, let isAddition, let positions) in edits {
            let table = schema.links[number]
            guard exists(ObjectKey(entity: table.source, id: source), after: result),
                exists(ObjectKey(entity: table.target, id: target), after: result)
            else { continue }
            add(number, source, target, isAddition, positions)
            if table.isSymmetric { add(number, target, source, isAddition, (positions.source, positions.target)) }
        }
    }

    // MARK: One-to-one

    /// A request that two objects point to each other.
    private struct Pairing {
        let key: ObjectKey
        let field: Int
        let partner: ObjectKey?
        let back: Int
    }

    /// Removes the fields of one-to-one relationships from the changes, because both ends must be set together.
    private func takePairings(_ result: inout OracleChanges) -> [Pairing] {
        var wishes: [Pairing] = []
        for key in result.keys {
            for relationship in schema.entities[key.entity].relationships {
                guard case .foreignKey(let field) = relationship.storage, let inverse = relationship.inverse,
                    case .foreignKey(let back) = schema.entities[relationship.destination].relationships[inverse].storage
                else { continue }
                let value: Value?
                switch result.changes[key] {
                case .insert(var row):
                    value = row[field]
                    row[field] = .null
                    result.changes[key] = .insert(row)
                case .update(var fields):
                    value = fields.removeValue(forKey: field)
                    result.changes[key] = .update(fields)
                default: value = nil
                }
                guard let value else { continue }
                let partner: ObjectKey? =
                    if case .integer(let id) = value { ObjectKey(entity: relationship.destination, id: id) } else { nil }
                wishes.append(Pairing(key: key, field: field, partner: partner, back: back))
            }
        }
        return wishes
    }

    private func pair(_ wish: Pairing, _ result: inout OracleChanges) {
        guard exists(wish.key, after: result) else { return }
        let destination = schema.entities[wish.key.entity].relationships.first { $0.storage == .foreignKey(field: wish.field) }?.destination
        guard let destination else { return }
        if let old = reference(wish.key, wish.field, result) {
            set(ObjectKey(entity: destination, id: old), wish.back, .null, &result)
        }
        set(wish.key, wish.field, .null, &result)
        guard let partner = wish.partner, exists(partner, after: result) else { return }
        if let other = reference(partner, wish.back, result) {
            set(ObjectKey(entity: wish.key.entity, id: other), wish.field, .null, &result)
        }
        set(wish.key, wish.field, .integer(partner.id), &result)
        set(partner, wish.back, .integer(wish.key.id), &result)
    }

    /// Returns the current target of a field.
    private func reference(_ key: ObjectKey, _ field: Int, _ result: OracleChanges) -> Int64? {
        var value = rows[key.entity][key.id]?[field]
        switch result.changes[key] {
        case .insert(let row): value = row[field]
        case .update(let fields): value = fields[field] ?? value
        case .delete, nil: break
        }
        if case .integer(let id) = value { return id }
        return nil
    }

    private func set(_ key: ObjectKey, _ field: Int, _ value: Value, _ result: inout OracleChanges) {
        switch result.changes[key] {
        case .insert(var row):
            row[field] = value
            result.changes[key] = .insert(row)
        case .update(var fields):
            fields[field] = value
            result.changes[key] = .update(fields)
        case .delete: break
        case nil: if rows[key.entity][key.id] != nil { result.add(key, .update([field: value])) }
        }
    }
}
