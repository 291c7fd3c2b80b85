/// A change of a relationship. A to-one relationship is assigned, whatever the change; the members of a set have no positions.
enum GraphChange: Hashable, Sendable {
    case assign, remove, reverse
    case insert(at: Int)
    case move(from: Int, to: Int)

    /// Changes a list.
    func apply<T: Equatable>(to members: inout [T], _ targets: [T]) {
        switch self {
        case .assign: members = targets
        case .remove: members.removeAll { targets.contains($0) }
        case .reverse: members.reverse()
        case .insert(let position):
            members.removeAll { targets.contains($0) }
            members.insert(contentsOf: targets, at: min(position, members.count))
        case .move(let from, let to):
            guard !members.isEmpty else { return }
            let member = members.remove(at: from % members.count)
            members.insert(member, at: to % (members.count + 1))
        }
    }
}
