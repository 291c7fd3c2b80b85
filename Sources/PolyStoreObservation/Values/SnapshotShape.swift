import PolyStoreBackend
import PolyStoreKernel

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

    func entry(_ row: RowReference) -> StoreEntity { table.entries[Int(row.entityIndex)] }

    /// Returns the row of an id; `nil` for an id of another stack's store.
    func row<T: Model>(of id: ObjectID<T>) -> RowReference? {
        let entityIndex = Int(id.entry.entityIndex)
        if entityIndex < table.entries.count, table.entries[entityIndex] === id.entry {
            return RowReference(entityIndex: id.entry.entityIndex, rowID: id.rowID)
        }
        let same = table.byType[ObjectIdentifier(T.self)]?.first { $0.store.storeID == id.entry.store.storeID }
        return same.map { RowReference(entityIndex: $0.entityIndex, rowID: id.rowID) }
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
        entry.listedFields(of: type).filter { contains($0.index) }
    }
}
