import PolyStoreBackend

/// The shared properties of the snapshots of one subscription: the stores of their ids, and the values that they contain.
final class SnapshotShape: Sendable {
    let table: StoreTable
    /// The requested field indexes; `nil` for all fields.
    let fields: FieldMask?
    /// The logger for values that cannot be decoded.
    let logger: any StoreLogger

    init(table: StoreTable, fields: FieldMask?, logger: any StoreLogger) {
        self.table = table
        self.fields = fields
        self.logger = logger
    }

    func entry(_ row: ListRow) -> StoreEntity { table.entries[Int(row.slot)] }

    /// Returns the row of an id; `nil` for an id of another stack's store.
    func row<T: Model>(of id: ObjectID<T>) -> ListRow? {
        let slot = Int(id.entry.slot)
        if slot < table.entries.count, table.entries[slot] === id.entry { return ListRow(slot: id.entry.slot, rowID: id.key) }
        let same = table.byType[ObjectIdentifier(T.self)]?.first { $0.store.storeID == id.entry.store.storeID }
        return same.map { ListRow(slot: $0.slot, rowID: id.key) }
    }

    func contains(_ field: Int) -> Bool { fields?.contains(field) ?? true }

    /// A Boolean value that indicates whether snapshots contain only ids.
    var isEmpty: Bool { fields?.isEmpty ?? false }

    /// Returns the same content for a table with added stores.
    func updated(to table: StoreTable) -> SnapshotShape {
        table.entries.count == self.table.entries.count ? self : SnapshotShape(table: table, fields: fields, logger: logger)
    }

    /// Returns the fields of an entity that snapshots of a class contain, without the hidden positions of ordered relationships.
    func fields(of entry: StoreEntity, as type: any Model.Type) -> [Field] {
        let declared = entry.fields(of: type)
        return entry.entity.fields.filter { !$0.isHidden && declared.contains($0.ordinal) && contains($0.ordinal) }
    }
}
