/// The members of a to-many relationship as a collection that is mutated in place.
///
/// The collection is lent, mutated and taken back without being copied. Only the differences are applied to the inverse relationships.
class MemberCollection {
    /// A Boolean value that indicates whether the collection is lent.
    final var isOut = false
    /// A Boolean value that indicates whether the relationship was changed in another way while the collection was lent.
    final var isOutdated = false

    /// A Boolean value that indicates whether the collection was lent since it was last compared as a whole.
    final var isUnsettled = false

    /// Called when an object is added through the inverse relationship.
    /// - Returns: false if the collection cannot be updated.
    func add(_ object: any Model) -> Bool { false }
    func remove(_ object: any Model) -> Bool { false }
    /// Sets the relationship of an object to the members of the collection.
    func assign(_ relationship: Int, of owner: any Model) {}
    /// Returns whether the collection contains exactly the objects with these row ids, in this order if it is ordered.
    func matches(_ rowIDs: [Int64]) -> Bool { false }
}

final class MemberSet<T: Model>: MemberCollection {
    var members: Set<T> = []

    override func add(_ object: any Model) -> Bool {
        guard let object = object as? T else { return false }
        members.insert(object)
        return true
    }

    override func remove(_ object: any Model) -> Bool {
        guard let object = object as? T else { return false }
        return members.remove(object) != nil
    }

    override func assign(_ relationship: Int, of owner: any Model) { owner._$setMembers(of: relationship, to: members) }

    override func matches(_ rowIDs: [Int64]) -> Bool {
        guard rowIDs.count == members.count else { return false }
        let known = Set(rowIDs)
        return members.allSatisfy { known.contains($0._$state.rowID) }
    }
}

final class MemberArray<T: Model>: MemberCollection {
    var members: [T] = []

    override func add(_ object: any Model) -> Bool {
        guard let object = object as? T else { return false }
        members.append(object)
        return true
    }

    override func remove(_ object: any Model) -> Bool {
        guard let last = members.last, last === object else { return false }
        members.removeLast()
        return true
    }

    override func assign(_ relationship: Int, of owner: any Model) { owner._$setMembers(of: relationship, to: members) }

    override func matches(_ rowIDs: [Int64]) -> Bool { members.count == rowIDs.count && zip(members, rowIDs).allSatisfy { $0._$state.rowID == $1 } }
}

/// A collection that is lent for mutation.
public struct MemberLoan<C> {
    /// The members. This is their only reference, so mutating them does not copy.
    public var members: C
    /// The origin of the members; nil if they are a copy.
    var collection: MemberCollection?
    /// The address of the elements when they were lent. It changes if the collection is replaced or grows.
    var address: UInt = 0
    /// The index of the first recorded hash that belongs to this loan.
    var firstNote = 0

    init(_ members: C) { self.members = members }
}
