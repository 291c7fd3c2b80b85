import PolyStoreKernel

/// The result of ``DataStack/history(since:matching:limit:file:line:)``: entries in commit order. Entries of different stores are ordered by date.
public struct History: Sendable, RandomAccessCollection {
    /// The point after all entries that were read, including those that the filter excluded. Pass it to the next call.
    public let token: HistoryToken
    /// A Boolean value that indicates whether the limit was reached before the end of the history.
    public let hasMore: Bool
    private let entries: [HistoryEntry]

    init(_ entries: [HistoryEntry], token: HistoryToken, hasMore: Bool) {
        self.entries = entries
        self.token = token
        self.hasMore = hasMore
    }

    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }
    public subscript(position: Int) -> HistoryEntry { entries[position] }
}

/// A change of one object by one transaction.
public struct HistoryChange: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable, Codable {
        /// The object was created.
        case inserted
        /// Values of the object were changed.
        case updated
        /// The object was deleted.
        case deleted
    }

    /// The kind of the change.
    public let kind: Kind
    /// The stored name of the entity of the object's class; in a hierarchy that of the class itself, not of its root.
    public let entityName: String
    /// The row id of the object, unique within the entity or the hierarchy of a store.
    public let rowID: Int64
    /// The stored names of the properties that an update changed, to-many relationships included; empty for an inserted or deleted object.
    public let changedKeys: [String]
    /// The previous values of attributes and to-one relationships, by stored name: those of the changed properties for an update, all of them for a deletion.
    /// Null values are omitted. Empty unless ``HistoryOptions/recordsPreviousValues`` was set.
    public let previousValues: [String: QueryValue]
    /// The id without its class; `nil` if the stack's schema does not contain the entity.
    public let objectID: AnyObjectID?
}

extension HistoryChange: CustomStringConvertible {
    /// `updated Person 7 (age, name)`.
    public var description: String {
        "\(kind) \(entityName) \(rowID)" + (changedKeys.isEmpty ? "" : " (\(changedKeys.joined(separator: ", ")))")
    }
}
