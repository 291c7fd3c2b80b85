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

    override func matches(_ rowIDs: [Int64]) -> Bool {
        members.count == rowIDs.count && zip(members, rowIDs).allSatisfy { $0._$state.rowID == $1 }
    }
}
