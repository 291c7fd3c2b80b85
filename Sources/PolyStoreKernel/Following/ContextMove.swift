import PolyStoreBackend

/// A transition of a context from one state to another.
package struct ContextMove {
    /// The changes of the commits in between, or the pending changes of a transaction.
    package let step: CommittedStep
    /// A Boolean value that indicates whether the step is incomplete, so that everything observed must be compared.
    package var isPartial = false
    /// A Boolean value that indicates whether stores were added or removed.
    package var hasNewStores = false
    /// Returns an object's record before the move.
    var oldRecord: (RowReference) throws -> RecordView? = { _ in nil }
    /// Returns whether an object's record has changed, if the step does not contain this information.
    package var isChanged: (RowReference) -> Bool = { _ in false }
}

extension ContextMove {
    /// Returns whether an object's record differs between two snapshots. An unreadable record counts as different.
    static func differs(_ entry: StoreEntity, _ rowID: Int64, _ old: any ReadTransaction, _ new: any ReadTransaction) -> Bool {
        do {
            let before = try old.record(entry.entity, rowID: rowID)
            let after = try new.record(entry.entity, rowID: rowID)
            guard let before, let after else { return (before == nil) != (after == nil) }
            return Order.of(before.bytes, after.bytes) != 0
        } catch {
            return true
        }
    }
}
