import PolyStoreBackend

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
