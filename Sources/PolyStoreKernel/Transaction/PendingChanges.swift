import PolyStoreBackend

/// The changed objects of an unqueued transaction, by kind of change.
public struct PendingChanges {
    /// The objects that the transaction created.
    public let inserted: [any Model]
    /// The existing objects that were changed, or whose to-many relationships were changed.
    public let updated: [any Model]
    /// The objects that were deleted.
    public let deleted: [any Model]

    init(_ objects: [any Model]) {
        let objects = objects.sorted { ($0._$state.entityIndex, $0._$state.rowID) < ($1._$state.entityIndex, $1._$state.rowID) }
        deleted = objects.filter(\.isDeleted)
        inserted = objects.filter { $0.isInserted && !$0.isDeleted }
        updated = objects.filter { !$0.isInserted && !$0.isDeleted }
    }
}
