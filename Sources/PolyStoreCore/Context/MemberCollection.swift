/// The objects of a to-many relationship as the collection that a program changes in place.
///
/// It is handed out, changed and taken back without being copied, and only what is different is carried over to the other ends.
class MemberCollection {
    /// Whether it is handed out.
    final var isOut = false
    /// Whether the relationship was changed in another way meanwhile.
    final var isOutdated = false

    /// Whether it was handed out since it was last compared as a whole.
    final var isUnsettled = false

    /// Called when an object is added at the other end.
    /// - Returns: false where the collection cannot follow.
    func add(_ object: any Model) -> Bool { false }
    func remove(_ object: any Model) -> Bool { false }
    /// Sets the relationship of an object to what is in the collection.
    func assign(_ relationship: Int, of owner: any Model) {}
    /// Whether it has exactly the objects of these ids; where there is an order, in this one.
    func matches(_ keys: [Int64]) -> Bool { false }
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

    override func matches(_ keys: [Int64]) -> Bool {
        guard keys.count == members.count else { return false }
        let known = Set(keys)
        return members.allSatisfy { known.contains($0._$state.key) }
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

    override func matches(_ keys: [Int64]) -> Bool { members.count == keys.count && zip(members, keys).allSatisfy { $0._$state.key == $1 } }
}

/// A collection while a program changes it.
public struct MemberLoan<C> {
    /// Referred to from here alone, so that changing it copies nothing.
    public var members: C
    /// Where it comes from; nil: it is a copy.
    var collection: MemberCollection?
    /// Where its elements were in memory: a collection whose elements are elsewhere was replaced, or has grown.
    var address: UInt = 0
    /// From which of the noted look-ups on they belong to this loan.
    var firstNote = 0

    init(_ members: C) { self.members = members }
}
