import PolyStoreBackend
import PolyStoreKernel

/// The values that the snapshots of a list contain.
///
///     stack.snapshots(of: From<Person>(), content: .attributes(\.name, \.age))
public struct SnapshotContent<T: Model>: Sendable {
    /// The field indexes; `nil` for all fields of the class.
    let fields: FieldMask?
    /// The reason why the content is invalid; thrown by the function that receives it.
    let error: StoreError?

    private init(_ fields: FieldMask?, error: StoreError? = nil) {
        self.fields = fields
        self.error = error
    }

    /// Every attribute and to-one relationship.
    public static var all: SnapshotContent { SnapshotContent(nil) }

    /// The ids only. No other values are read or kept.
    public static var ids: SnapshotContent { SnapshotContent(FieldMask()) }

    /// The given attributes and to-one relationships. For any other path, the function that receives the content throws `invalidPredicate`.
    public static func attributes(_ paths: PartialKeyPath<T>...) -> SnapshotContent {
        var mask = FieldMask()
        for path in paths {
            guard let field = T._$properties.knownField(path) else { return SnapshotContent(mask, error: unknown(path)) }
            mask.insert(field.index)
        }
        return SnapshotContent(mask)
    }

    static func unknown(_ path: PartialKeyPath<T>) -> StoreError {
        StoreError(
            .invalidPredicate,
            "A key path of \(T._$entityName) to \(type(of: path).valueType) is not a stored attribute or to-one relationship. Snapshots contain "
                + "only these; read other properties from the object.", entity: T._$entityName)
    }
}

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

/// Copies the values of an entity's records into the bytes of snapshots. Equal values yield equal bytes, regardless of the backend.
struct SnapshotRecorder {
    private let layout: RecordLayout
    private let fields: [Field]
    private let arena = RecordArena(capacity: 512)
    private var builder: RecordBuilder

    init(_ shape: SnapshotShape, _ entry: StoreEntity, as type: any Model.Type) {
        layout = entry.entity.layout
        fields = shape.fields(of: entry, as: type)
        builder = RecordBuilder(arena)
    }

    mutating func bytes(of record: RecordView) throws -> [UInt8] {
        arena.removeAll()
        builder.begin(layout)
        for field in fields { builder.copy(field, from: record) }
        return try withExtendedLifetime(arena) { [UInt8](try builder.finishedView().bytes) }
    }

    /// Returns the bytes of a record without values.
    mutating func emptyBytes() throws -> [UInt8] {
        arena.removeAll()
        builder.begin(layout)
        return try withExtendedLifetime(arena) { [UInt8](try builder.finishedView().bytes) }
    }
}
