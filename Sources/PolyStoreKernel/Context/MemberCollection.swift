/// The members of a to-many relationship as a collection that is mutated in place.
///
/// An accessor moves the members out for an in-place mutation and back afterwards, without copying them. The editor applies only the differences to the
/// inverse relationships.
class MemberCollection {
    /// A Boolean value that indicates whether the collection is lent.
    final var isBeingMutated = false
    /// A Boolean value that indicates whether the relationship was changed in another way while the collection was lent.
    final var isOutdated = false

    /// Called when an object is added through the inverse relationship.
    /// - Returns: false if the collection cannot be updated.
    func add(_ object: any Model) -> Bool { false }
    func remove(_ object: any Model) -> Bool { false }
    /// Sets the relationship of an object to the members of the collection.
    func assign(_ relationship: Int, of owner: any Model) {}
    /// Returns whether the collection contains exactly the objects with these row ids, in this order if it is ordered.
    func matches(_ rowIDs: [Int64]) -> Bool { false }
}
