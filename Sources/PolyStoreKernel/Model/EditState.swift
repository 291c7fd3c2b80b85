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

/// A pending change of one property of an object.
public enum PropertyChange: Sendable, Hashable {
    /// A change of an attribute or a to-one relationship. The values of relationships are ``QueryValue/objectID(_:)``; `nil` is null.
    case value(old: QueryValue?, new: QueryValue?)
    /// A change of a to-many relationship.
    case members(added: Set<AnyObjectID>, removed: Set<AnyObjectID>)
    /// A change of an ordered to-many relationship.
    case list(old: [AnyObjectID], new: [AnyObjectID])

    /// The previous value of an attribute or to-one relationship.
    public var old: QueryValue? { if case .value(let old, _) = self { old } else { nil } }
    /// The new value of an attribute or to-one relationship.
    public var new: QueryValue? { if case .value(_, let new) = self { new } else { nil } }
}
