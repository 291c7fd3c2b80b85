import PolyStoreBackend

/// The record layouts that an entity's records may have.
struct StoredRecordFormat: Sendable {
    /// The layout number of new records.
    var number: UInt16 = 0
    /// The other layouts that records may still have, by layout number.
    var old: [UInt16: OldLayout] = [:]

    /// Returns the layouts after a migration that carries the entity.
    /// - Parameters:
    ///   - entity: The entity before the migration.
    ///   - fields: The origin of each field after the migration.
    ///   - target: The entity after the migration.
    ///   - isEmpty: Whether the entity has no records.
    /// - Throws: `full` if all layout numbers are in use.
    func followed(by fields: [SchemaChange.FieldSource], of entity: Entity, to target: Entity, isEmpty: Bool, location: String) throws
        -> StoredRecordFormat
    {
        let isSame =
            fields.count == entity.fields.count
            && fields.enumerated().allSatisfy { fieldIndex, source in
                guard case .field(fieldIndex, let replacement) = source,
                    // A wider type occupies more bytes.
                    entity.fields[fieldIndex].type.fixedWidth == target.fields[fieldIndex].type.fixedWidth
                else { return false }
                return replacement.isNull || !entity.fields[fieldIndex].isOptional
            }
        return try isSame ? self : next(fields, entity, target.name, isEmpty, location)
    }

    private func next(_ fields: [SchemaChange.FieldSource], _ entity: Entity, _ name: String, _ isEmpty: Bool, _ location: String) throws
        -> StoredRecordFormat
    {
        guard number < .max else {
            throw StoreError(
                .full,
                "\(entity.name) in \(location) was migrated \(number) times, and no layout number is left. Export the store and import it into a new one.",
                entity: entity.name, location: location)
        }
        var next = StoredRecordFormat(number: number + 1)
        if isEmpty { return next }
        next.old = old.mapValues { $0.followed(by: fields, name) }
        next.old[number] = OldLayout(name, types: entity.fields.map(\.type), fields: fields)
        return next
    }
}
