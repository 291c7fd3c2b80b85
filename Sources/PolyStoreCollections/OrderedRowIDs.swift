/// An ordered set of row ids. Appending, removing and lookup take amortized constant time.
package struct OrderedRowIDs {
    /// The row ids in order, including removed ones.
    private var elements: [Int64] = []
    /// The index of each row id in `elements`. Elements that are not referenced are removed ones.
    private var positions: [Int64: Int] = [:]

    package init() {}

    package init(_ rowIDs: some Sequence<Int64>) { for rowID in rowIDs { append(rowID) } }

    package var count: Int { positions.count }

    /// The row ids in order.
    package var rowIDs: [Int64] {
        if elements.count == positions.count { return elements }
        return elements.indices.lazy.filter { positions[elements[$0]] == $0 }.map { elements[$0] }
    }

    package func contains(_ rowID: Int64) -> Bool { positions[rowID] != nil }

    /// Appends a row id. If it is already contained, it keeps its position.
    /// - Returns: whether the row id was added.
    @discardableResult
    package mutating func append(_ rowID: Int64) -> Bool {
        guard positions[rowID] == nil else { return false }
        positions[rowID] = elements.count
        elements.append(rowID)
        return true
    }

    /// Removes a row id.
    /// - Returns: whether it was contained.
    @discardableResult
    package mutating func remove(_ rowID: Int64) -> Bool {
        guard let position = positions.removeValue(forKey: rowID) else { return false }
        if position == elements.count - 1 {
            elements.removeLast()
            return true
        }
        guard elements.count > 64, elements.count > 2 * positions.count else { return true }
        let kept = elements.indices.filter { positions[elements[$0]] == $0 }.map { elements[$0] }
        elements = kept
        for (position, rowID) in kept.enumerated() { positions[rowID] = position }
        return true
    }
}
