/// The order that changes give to the members of a list.
package enum MemberOrder {
    /// No order, or the stored order.
    case unordered
    /// These members follow all others.
    case appended(OrderedRowIDs)
    /// These are all members, in order.
    case whole(OrderedRowIDs)

    /// A Boolean value that indicates whether the stored order is unchanged.
    package var isEmpty: Bool {
        switch self {
        case .unordered: true
        case .appended(let last): last.count == 0
        case .whole: false
        }
    }

    /// Sorts row ids by this order. Unknown ones precede appended ones and follow arranged ones.
    package func applied(to rowIDs: [Int64]) -> [Int64] {
        switch self {
        case .unordered: return rowIDs
        case .appended(var last):
            let known = Set(rowIDs)
            return rowIDs.filter { !last.contains($0) } + last.rowIDs.filter(known.contains)
        case .whole(var wanted):
            let known = Set(rowIDs)
            return wanted.rowIDs.filter(known.contains) + rowIDs.filter { !wanted.contains($0) }
        }
    }

    /// Appends a row id.
    /// - Returns: whether the row id was added and is now the last one.
    package mutating func add(_ rowID: Int64) -> Bool {
        switch self {
        case .unordered:
            self = .appended(OrderedRowIDs([rowID]))
            return true
        case .appended(var last):
            self = .unordered  // avoids copying the row ids
            defer { self = .appended(last) }
            return last.append(rowID)
        case .whole(var all):
            self = .unordered
            defer { self = .whole(all) }
            return all.append(rowID)
        }
    }

    /// Removes a row id.
    /// - Returns: whether the row id was contained.
    package mutating func remove(_ rowID: Int64) -> Bool {
        switch self {
        case .unordered: return false
        case .appended(var last):
            self = .unordered
            defer { self = .appended(last) }
            return last.remove(rowID)
        case .whole(var all):
            self = .unordered
            defer { self = .whole(all) }
            return all.remove(rowID)
        }
    }
}
