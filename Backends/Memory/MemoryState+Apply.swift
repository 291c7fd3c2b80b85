import PolyStoreBackend

extension MemoryState {
    /// Writes a change set. A throw leaves a half-written state, which the caller throws away.
    mutating func apply(_ changes: ChangeSet) throws {
        let schema = changes.schema
        // All old values are given up before any new one is claimed, so that values may swap owners.
        for change in changes.changes where change.kind != .insert {
            let entity = schema.entities[change.entity]
            guard let old = records[entity.index][change.id] else {
                throw StoreError(
                    .notFound, "\(entity.name) \(change.id) is not in the store.", entity: entity.name, objectID: change.id)
            }
            let mask = change.kind == .update ? change.mask : nil
            release(entity, change.id, old.view(entity.layout), mask, schema)
        }
        let builder = ScratchBuilder()
        for change in changes.changes {
            let entity = schema.entities[change.entity]
            switch change.kind {
            case .delete: records[entity.index][change.id] = nil
            case .insert:
                guard records[entity.index][change.id] == nil else {
                    throw StoreError(
                        .constraint, "\(entity.name) \(change.id) is in the store already.", entity: entity.name, objectID: change.id)
                }
                try require(entity, change, changes.record(change), nil)
                records[entity.index][change.id] = StoredRecord(changes.record(change))
            case .update:
                guard let old = records[entity.index][change.id] else { continue }
                try require(entity, change, changes.record(change), change.mask)
                let merged = try builder.merge(entity, old.view(entity.layout), changes.record(change), change.mask)
                records[entity.index][change.id] = StoredRecord(merged)
            }
        }
        for change in changes.changes where change.kind != .delete {
            let entity = schema.entities[change.entity]
            guard let new = records[entity.index][change.id] else { continue }
            try claim(entity, change.id, new.view(entity.layout), change.kind == .update ? change.mask : nil, schema)
        }
        for link in changes.links {
            guard links.indices.contains(link.table) else {
                throw StoreError(.misuse, "There is no link table \(link.table) in the schema that the store was opened with.")
            }
            if link.isAddition {
                links[link.table].add(link.source, link.target)
            } else {
                links[link.table].remove(link.source, link.target)
            }
        }
    }

    /// Refuses null where the model asks for a value; of an update, in the fields that it writes.
    private func require(_ entity: Entity, _ change: ChangeSet.Change, _ record: RecordView, _ mask: FieldMask?) throws {
        for field in entity.fields where !field.isOptional && mask?.contains(field.ordinal) ?? true && record.isNull(field.ordinal) {
            throw StoreError(
                .constraint, "\(entity.name).\(field.name) of object \(change.id) has no value, and is not optional.", entity: entity.name,
                attribute: field.name, objectID: change.id)
        }
    }

    /// Where an entity's unique indexes begin in `uniques`.
    private func firstUnique(_ entity: Entity, _ schema: ResolvedSchema) -> Int {
        schema.entities[..<entity.index].reduce(0) { $0 + $1.uniqueIndexes.count }
    }

    private func concerned(_ index: Index, _ mask: FieldMask?) -> Bool {
        mask.map { mask in index.fields.contains { mask.contains($0) } } ?? true
    }

    private mutating func release(_ entity: Entity, _ id: Int64, _ record: RecordView, _ mask: FieldMask?, _ schema: ResolvedSchema) {
        let first = firstUnique(entity, schema)
        for (number, index) in entity.uniqueIndexes.enumerated() where concerned(index, mask) {
            if let key = entity.key(index, record), uniques[first + number][key] == id { uniques[first + number][key] = nil }
        }
    }

    private mutating func claim(
        _ entity: Entity, _ id: Int64, _ record: RecordView, _ mask: FieldMask?, _ schema: ResolvedSchema
    ) throws {
        let first = firstUnique(entity, schema)
        for (number, index) in entity.uniqueIndexes.enumerated() where concerned(index, mask) {
            guard let key = entity.key(index, record) else { continue }
            if let holder = uniques[first + number].updateValue(id, forKey: key), holder != id {
                let names = index.fields.map { entity.fields[$0].name }
                throw StoreError(
                    .constraint,
                    "\(entity.name).\(names.joined(separator: "+")) must be unique: \(key.map(\.literal).joined(separator: ", ")) of object \(id) "
                        + "is held by object \(holder).", entity: entity.name, attribute: names.joined(separator: "+"), objectID: id)
            }
        }
    }

    /// Holds the unique dictionaries and the links against the records.
    func findings(_ schema: ResolvedSchema) -> [String] {
        var findings: [String] = []
        for entity in schema.entities {
            let first = firstUnique(entity, schema)
            for (number, index) in entity.uniqueIndexes.enumerated() {
                let expected = Dictionary(
                    records[entity.index].compactMap { id, record in entity.key(index, record.view(entity.layout)).map { ($0, id) } },
                    uniquingKeysWith: { first, _ in first })
                if expected != uniques[first + number] {
                    findings.append("The unique index \(index.name) does not agree with the records.")
                }
            }
        }
        for table in schema.links {
            if links[table.index].forward != links[table.index].backward {
                findings.append("\(table.name) does not say the same from both ends.")
            }
            for (source, targets) in links[table.index].targets {
                if records[table.source][source] == nil { findings.append("\(table.name) links from \(source), which does not exist.") }
                for target in targets where records[table.target][target] == nil {
                    findings.append("\(table.name) links from \(source) to \(target), which does not exist.")
                }
            }
        }
        return findings
    }
}

/// Builds the record of an update out of the old one and the changed fields.
private final class ScratchBuilder {
    private let arena = RecordArena()

    /// Valid until the next call.
    func merge(_ entity: Entity, _ old: RecordView, _ new: RecordView, _ mask: FieldMask) throws -> RecordView {
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for field in entity.fields { builder.copy(field, from: mask.contains(field.ordinal) ? new : old) }
        let place = try builder.finish()
        return arena.view(place.offset, place.count, entity.layout)
    }
}
