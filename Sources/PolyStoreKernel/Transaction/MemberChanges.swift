import PolyStoreBackend

/// The net changes of a to-many relationship in a transaction.
@usableFromInline
struct MemberChanges {
    @usableFromInline var added: Set<Int64> = []
    @usableFromInline var removed: Set<Int64> = []
    var order = MemberOrder.unordered

    /// Returns the members of the relationship, given its stored members.
    @usableFromInline
    func applied(to stored: [Int64]) -> [Int64] {
        switch order {
        case .unordered: stored.filter { !removed.contains($0) && !added.contains($0) } + added
        case .appended(var last): stored.filter { !removed.contains($0) && !last.contains($0) } + last.rowIDs
        case .whole(var all): all.rowIDs
        }
    }
}
