import PolyStoreBackend

/// What the snapshots of one subscription share: where their ids belong, and which values they contain.
final class SnapshotShape: Sendable {
    let table: StoreTable
    /// The ordinals of the fields that were requested; nil: all.
    let fields: FieldMask?
    /// Receives the errors of values that cannot be decoded.
    let logger: any StoreLogger

    init(table: StoreTable, fields: FieldMask?, logger: any StoreLogger) {
        self.table = table
        self.fields = fields
        self.logger = logger
    }

    func entry(_ row: ListRow) -> StoreEntity { table.entries[Int(row.slot)] }

    /// The row of an id; nil for an id of another stack's store.
    func row<T: Model>(of id: ObjectID<T>) -> ListRow? {
        let slot = Int(id.entry.slot)
        if slot < table.entries.count, table.entries[slot] === id.entry { return ListRow(slot: id.entry.slot, rowID: id.key) }
        let same = table.byType[ObjectIdentifier(T.self)]?.first { $0.store.storeID == id.entry.store.storeID }
        return same.map { ListRow(slot: $0.slot, rowID: id.key) }
    }

    func contains(_ field: Int) -> Bool { fields?.contains(field) ?? true }

    /// Whether snapshots contain nothing but ids.
    var isEmpty: Bool { fields?.isEmpty ?? false }

    /// The same content with the stores that were added to the stack.
    func updated(to table: StoreTable) -> SnapshotShape {
        table.entries.count == self.table.entries.count ? self : SnapshotShape(table: table, fields: fields, logger: logger)
    }

    /// The fields of an entity that snapshots of a class contain. Positions in ordered relationships are no values of an object.
    func fields(of entry: StoreEntity, as type: any Model.Type) -> [Field] {
        let declared = entry.fields(of: type)
        return entry.entity.fields.filter { !$0.isHidden && declared.contains($0.ordinal) && contains($0.ordinal) }
    }
}
