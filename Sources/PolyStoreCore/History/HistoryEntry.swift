public import Foundation
import PolyStoreBackend

/// What one transaction has committed to one store, as the store's history has it.
public struct HistoryEntry: Sendable {
    /// ``PersistentStore/storeID``.
    public let storeID: String
    /// The version of the store that the commit made; the transactions of one commit have the same.
    public let version: UInt64
    /// When the transaction was committed, by the clock of the process that committed it.
    public let date: Date
    /// The transaction's source as text, ``Commit/sourceIdentifier``; nil: none.
    public let author: String?
    /// A Boolean value that indicates whether commits before this one are missing: they were made by a stack, or another program, that records no
    /// history. Read the objects again where this matters.
    public let followsUnrecordedCommits: Bool
    /// The changed objects: inserted, updated and deleted ones, each object once. Empty for a transaction that changed no object, such as one that set the
    /// position of an import.
    public let changes: [HistoryChange]
    /// The point in the history behind this entry, and behind those before it in the answer.
    public let token: HistoryToken

    /// The objects that were created.
    public func insertedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .inserted) }
    /// The objects of which a property was changed, to-many relationships included.
    public func updatedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .updated) }
    /// The objects that were deleted.
    public func deletedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .deleted) }

    /// The stored names of the properties of an object that this transaction changed; empty for an object that it inserted, deleted or did not change.
    public func changedKeys<T: Model>(of id: ObjectID<T>) -> Set<String> { Set(change(of: id)?.changedKeys ?? []) }

    /// What this transaction did to an object; nil: nothing.
    public func change<T: Model>(of id: ObjectID<T>) -> HistoryChange? {
        changes.first { $0.key == id.key && $0.objectID?.entry === id.entry }
    }

    private func ids<T: Model>(_ type: T.Type, _ kind: HistoryChange.Kind) -> Set<ObjectID<T>> {
        let names = HistoryFilter.entityNames(of: type)
        var found: Set<ObjectID<T>> = []
        for change in changes where change.kind == kind && names.contains(change.entityName) {
            if let id = change.objectID?.of(type) { found.insert(id) }
        }
        return found
    }
}
