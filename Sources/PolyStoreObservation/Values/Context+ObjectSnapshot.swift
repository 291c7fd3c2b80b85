import PolyStoreBackend
import PolyStoreKernel

extension Context {
    /// Returns the shared description of snapshots of this context's objects.
    /// - Throws: `invalidPredicate` for a key path in the content that is not a stored attribute or to-one relationship.
    final func snapshotShape<T: Model>(_ content: SnapshotContent<T>) throws -> SnapshotShape {
        if let error = content.error { throw error }
        return SnapshotShape(table: table, fields: content.fields, logger: core.currentLogger)
    }

    /// Returns the stored values of an object, including pending changes of a transaction; `nil` if the object does not exist.
    ///
    /// The form for a caller that has an id; the same as ``Model/snapshot()`` of the object with the id.
    /// - Throws: `storeNotFound` for an id of another stack, `corrupt`, `closed`, `io`.
    public final func fetchSnapshot<T: Model>(_ id: ObjectID<T>) throws -> ObjectSnapshot<T>? {
        try fetchExisting(id)?.snapshot()
    }

    /// Returns the snapshots of objects, in the order of their ids. Objects that do not exist are omitted.
    /// - Throws: The errors of ``fetchSnapshot(_:)``.
    public final func fetchSnapshots<T: Model, S: Sequence<ObjectID<T>>>(_ ids: S) throws -> [ObjectSnapshot<T>] {
        let shape = try snapshotShape(SnapshotContent<T>.all)
        return try fetchExisting(ids).map { try $0.snapshot(shape) }
    }
}

extension Model {
    /// Returns the current values of the object, including pending changes of a transaction, as a Sendable value. A deleted object returns its last values.
    /// - Throws: `notFound` if the object is not in the store and its values were never read, `invalidValue` for a value that cannot be stored.
    public func snapshot() throws -> ObjectSnapshot<Self> { try snapshot(_$state.context.snapshotShape(SnapshotContent<Self>.all)) }

    func snapshot(_ shape: SnapshotShape) throws -> ObjectSnapshot<Self> {
        try withRecord { record, entry in
            var recorder = SnapshotRecorder(shape, entry, as: Self.self)
            return ObjectSnapshot(
                shape: shape, row: RowReference(entityIndex: entry.entityIndex, rowID: _$state.rowID),
                record: try recorder.bytes(of: record))
        }
    }
}
