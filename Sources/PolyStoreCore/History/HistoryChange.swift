/// What one transaction did to one object.
public struct HistoryChange: Sendable {
    public enum Kind: UInt8, Sendable, Hashable, CaseIterable, Codable {
        case inserted, updated, deleted
    }

    public let kind: Kind
    /// The entity of the object's class as the store names it: of a hierarchy the class itself, not its root.
    public let entityName: String
    /// The key of ``ObjectID``: unique within the entity, or within the hierarchy, of a store.
    public let key: Int64
    /// The stored names of the properties that an update changed, to-many relationships included; empty for an inserted or deleted object.
    public let changedKeys: [String]
    /// The values that attributes and to-one relationships had before, by stored name: of the changed ones for an update, of all for a deletion. What was
    /// null has no value here. Empty unless ``HistoryOptions/recordsPreviousValues`` was set.
    public let previousValues: [String: QueryValue]
    /// The id without its class; nil where the stack's schema no longer has the entity.
    public let objectID: AnyObjectID?
}
