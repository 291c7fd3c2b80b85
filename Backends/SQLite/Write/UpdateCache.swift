import PolyStoreBackend

/// The update statements of one entity, one per set of fields.
struct UpdateCache {
    struct Update {
        let mask: FieldMask
        let fieldIndexes: [Int]
        let statement: Statement
    }

    private var updates: [FieldMask: Update] = [:]
    /// The most recently used statement. Change sets tend to modify the same fields repeatedly.
    private var latest: Update?
    /// The number of statements at which the cache is cleared.
    private static let most = 64

    mutating func update(_ mask: FieldMask, _ table: EntityTable, _ connection: Connection) throws -> Update {
        if let latest, latest.mask == mask { return latest }
        if let found = updates[mask] {
            latest = found
            return found
        }
        if updates.count >= Self.most {
            latest = nil
            for update in updates.values { connection.finalize(update.statement) }
            updates.removeAll()
        }
        let fieldIndexes = table.entity.fields.map(\.index).filter(mask.contains)
        let made = Update(mask: mask, fieldIndexes: fieldIndexes, statement: try connection.prepare(table.updateSQL(fieldIndexes)))
        updates[mask] = made
        latest = made
        return made
    }
}
