import PolyStoreBackend
import PolyStoreKernel

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
