import PolyStoreKernel

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
