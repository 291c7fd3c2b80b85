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
