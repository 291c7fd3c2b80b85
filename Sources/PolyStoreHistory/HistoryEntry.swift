public import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// The changes that one transaction committed to one store, as recorded in the store's history.
public struct HistoryEntry: Sendable, Hashable {
    /// The ``PersistentStore/storeID`` of the store.
    public let storeID: String
    /// The version of the store after the commit. Transactions of one commit have the same version.
    public let version: UInt64
    /// The time of the commit, by the clock of the process that committed it.
    public let date: Date
    /// The author of the commit: the text of the transaction's ``Commit/sourceIdentifier``, because the history stores text and not the value; `nil`
    /// if there is none.
    public let author: String?
    /// A Boolean value that indicates whether commits that precede this one are missing because a stack or another program without history recording
    /// made them. Read the objects again if this matters. If a filter excludes the entry after such commits, the next entry that is returned has the value,
    /// also if a later call returns it.
    public let followsUnrecordedCommits: Bool
    /// The inserted, updated and deleted objects, each once. Empty for a transaction that changed no object, such as one that saved the
    /// position of an import.
    public let changes: [HistoryChange]
    /// The point in the history after this entry and the entries before it in the result.
    public let token: HistoryToken

    /// Returns the ids of the inserted objects.
    public func insertedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .inserted) }
    /// Returns the ids of the objects with changed properties, including to-many relationships.
    public func updatedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .updated) }
    /// Returns the ids of the deleted objects.
    public func deletedObjectIDs<T: Model>(_ type: T.Type = T.self) -> Set<ObjectID<T>> { ids(type, .deleted) }

    /// Returns the stored names of the properties of an object that this transaction changed; empty for an object that it inserted, deleted or did not change.
    public func changedKeys<T: Model>(of id: ObjectID<T>) -> Set<String> { Set(change(of: id)?.changedKeys ?? []) }

    /// Returns the change of an object by this transaction; `nil` if there is none.
    public func change<T: Model>(of id: ObjectID<T>) -> HistoryChange? {
        changes.first { $0.rowID == id.rowID && $0.objectID?.entry === id.entry }
    }

    /// Returns the change of an object that has no class by this transaction; `nil` if there is none.
    public func change(of id: AnyObjectID) -> HistoryChange? { changes.first { $0.objectID == id } }

    private func ids<T: Model>(_ type: T.Type, _ kind: HistoryChange.Kind) -> Set<ObjectID<T>> {
        let names = HistoryFilter.entityNames(of: type)
        var found: Set<ObjectID<T>> = []
        for change in changes where change.kind == kind && names.contains(change.entityName) {
            if let id = change.objectID?.cast(to: type) { found.insert(id) }
        }
        return found
    }
}

extension HistoryEntry: CustomStringConvertible {
    /// `version 12 by sync: inserted Person 7, updated Person 8 (name)`.
    public var description: String {
        let changes = changes.map(\.description).joined(separator: ", ")
        return "version \(version)\(author.map { " by \($0)" } ?? ""): \(changes.isEmpty ? "no changes" : changes)"
    }
}
