import PolyStoreBackend

/// Assigns values to the fields of objects with the effects of their property setters.
///
/// A model has no setters by field, but can encode its record and load one. Values are therefore assigned in a copy of the object's record.
final class FieldAssigner {
    private let transaction: Transaction
    /// The arenas. Each holds one record, because building a record reads another one. They are reused for each object.
    private var arenas: [RecordArena] = []
    private var used = 0

    init(_ transaction: Transaction) { self.transaction = transaction }

    /// Encodes an object. The record and those derived from it are valid until the next object is encoded.
    func record(of object: some Model, _ entry: StoreEntity) throws -> RecordView {
        used = 0
        transaction.settleMembers()
        if object._$state.isFault { object._$fire() }
        return try build(entry.entity) { try entry.encode(object, into: &$0) }
    }

    /// Returns a copy of a record with new values in some fields, by field index.
    /// - Throws: `invalidValue` for a value that a field cannot store.
    func record(_ record: RecordView, with values: [Int: Value], _ entity: Entity) throws -> RecordView {
        try build(entity) { builder in
            for field in entity.fields {
                guard let value = values[field.index] else {
                    builder.copy(field, from: record)
                    continue
                }
                try field.check(value)
                try builder.set(field, value)
            }
        }
    }

    private func build(_ entity: Entity, _ encode: (inout RecordBuilder) throws -> Void) throws -> RecordView {
        if used == arenas.count { arenas.append(RecordArena(capacity: 512)) }
        let arena = arenas[used]
        used += 1
        arena.removeAll()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        try encode(&builder)
        return try builder.finishedView()
    }

    /// Sets fields of an object and updates the inverses of relationships.
    /// - Parameters:
    ///   - values: the values by field index; for a to-one relationship, the row id of the target.
    ///   - old: the object's record.
    /// - Throws: the decoding error if the object's class rejects a value. The object keeps its values then.
    func assign(_ values: [Int: Value], to object: some Model, _ old: RecordView, _ entry: StoreEntity) throws {
        let fields = entry.entity.fields
        let attributes = values.filter { fields[$0.key].relationship == nil }
        if !attributes.isEmpty {
            let new = try record(old, with: attributes, entry.entity)
            // Before the change, so that the transaction can save the object's state.
            for fieldIndex in attributes.keys { object._$willChange(fieldIndex) }
            do {
                try object._$load(new)
            } catch {
                try object._$load(old)
                throw transaction.described(error, entry, object._$state.rowID)
            }
        }
        for (fieldIndex, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let relationship = fields[fieldIndex].relationship else { continue }
            let key = if case .integer(let key) = value { key } else { 0 as Int64 }
            try lead(object, entry, relationship, fields[fieldIndex], to: key)
        }
    }

    /// Sets a to-one relationship to the object with a row id, or to nil if it is 0. The commit validates that the object exists.
    private func lead<T: Model>(_ object: T, _ entry: StoreEntity, _ relationship: Int, _ field: Field, to rowID: Int64) throws {
        object._$willChange(field.index)
        let old = object._$toOne(relationship)
        guard old.rowID != rowID else { return }
        guard rowID != 0 else {
            object._$setToOne(relationship, transaction.editing.moveToOne(object, relationship, from: old, to: T?.none))
            return
        }
        func move(to target: some Model) throws -> ToOne {
            guard !target.isDeleted else {
                let name = transaction.entry(target._$state.entityIndex).entity.name
                throw StoreError(
                    .notFound, "\(entry.entity.name).\(field.name) cannot lead to \(name) \(rowID), which is deleted.",
                    entity: entry.entity.name, attribute: field.name, rowID: object._$state.rowID)
            }
            if target._$state.isFault { target._$state.flags.insert(.unverified) }
            return transaction.editing.moveToOne(object, relationship, from: old, to: target)
        }
        object._$setToOne(relationship, try move(to: transaction.anyObject(entry.destinations[relationship], rowID)))
    }
}
