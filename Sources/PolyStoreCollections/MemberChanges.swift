/// The net changes of the members of a set or a list.
@usableFromInline
package struct MemberChanges {
    @usableFromInline package var added: Set<Int64> = []
    @usableFromInline package var removed: Set<Int64> = []
    package var order = MemberOrder.unordered

    /// Creates empty changes.
    package init() {}

    /// Returns the members after the changes, given those before.
    @usableFromInline
    package func applied(to stored: [Int64]) -> [Int64] {
        switch order {
        case .unordered: stored.filter { !removed.contains($0) && !added.contains($0) } + added
        case .appended(var last): stored.filter { !removed.contains($0) && !last.contains($0) } + last.rowIDs
        case .whole(var all): all.rowIDs
        }
    }
}
