import PolyStoreBackend
import Synchronization

/// The pending changes of one object in a transaction.
@usableFromInline
package final class EditState {
    @exclusivity(unchecked) @usableFromInline package var mask = FieldMask()
    @usableFromInline let isInsert: Bool
    /// A Boolean value that indicates whether the transaction has a record of the object that the next change invalidates.
    @inlinable package var isRecorded: Bool {
        get { recorded.load(ordering: .relaxed) }
        set { recorded.store(newValue, ordering: .relaxed) }
    }
    /// Atomic, because an unsafe transaction may be released on another thread than the one that uses its objects.
    @usableFromInline let recorded = Atomic<Bool>(false)
    /// The row of that record.
    @exclusivity(unchecked) var row: Int32 = -1

    init(isInsert: Bool) { self.isInsert = isInsert }

    /// Adds a changed field.
    /// - Returns: false if the transaction must be notified of the change first.
    @inlinable @inline(__always)
    func insert(_ field: Int) -> Bool {
        if isRecorded { return false }
        mask.insert(field)
        return true
    }
}
