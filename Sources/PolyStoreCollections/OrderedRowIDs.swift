/// An ordered set of row ids. Appending, removing and lookup take amortized constant time. Reading can remove elements that are no longer needed or build the
/// index, so it is mutating.
package struct OrderedRowIDs {
    /// The row ids in order, including removed ones.
    private var elements: [Int64]
    /// The index of each row id in `elements`; nil until it is needed. Elements that are not referenced are removed ones.
    private var positions: [Int64: Int]?
    /// The number of removed row ids that `elements` still contains.
    private var removedCount = 0

    /// The maximum length of a list that is searched without an index.
    private static let short = 16

    /// Creates a set of row ids without duplicates, which takes constant time.
    package init(distinct rowIDs: [Int64] = []) { elements = rowIDs }

    /// Creates a set of row ids. Of duplicates the first one counts.
    package init(_ rowIDs: some Sequence<Int64>) {
        elements = []
        for rowID in rowIDs { append(rowID) }
    }

    /// The number of row ids.
    package var count: Int { elements.count - removedCount }

    /// The row ids in order.
    package var rowIDs: [Int64] {
        mutating get {
            compact()
            return elements
        }
    }

    /// The row id at a position.
    package subscript(_ position: Int) -> Int64 {
        mutating get {
            compact()
            return elements[position]
        }
    }

    /// Returns whether a row id is contained. May build the index.
    package mutating func contains(_ rowID: Int64) -> Bool {
        if positions == nil, elements.count <= Self.short { return elements.contains(rowID) }
        return index()[rowID] != nil
    }

    /// Appends a row id. If it is already contained, it keeps its position.
    /// - Returns: whether the row id was added.
    @discardableResult
    package mutating func append(_ rowID: Int64) -> Bool {
        if contains(rowID) { return false }
        positions?[rowID] = elements.count
        elements.append(rowID)
        return true
    }

    /// Removes a row id.
    /// - Returns: whether it was contained.
    @discardableResult
    package mutating func remove(_ rowID: Int64) -> Bool {
        guard positions != nil || elements.count > Self.short else {
            guard let position = elements.lastIndex(of: rowID) else { return false }
            elements.remove(at: position)
            return true
        }
        if positions == nil, elements.last == rowID {
            elements.removeLast()
            return true
        }
        _ = index()
        guard let position = positions?.removeValue(forKey: rowID) else { return false }
        if position == elements.count - 1 {
            elements.removeLast()
        } else {
            removedCount += 1
            if removedCount > 64, removedCount > elements.count / 2 { compact() }
        }
        return true
    }

    /// Inserts row ids that are not contained at a position.
    package mutating func insert(_ rowIDs: [Int64], at position: Int) {
        compact()
        if position == elements.count, positions != nil {
            for (offset, rowID) in rowIDs.enumerated() { positions?[rowID] = position + offset }
        } else {
            positions = nil
        }
        elements.insert(contentsOf: rowIDs, at: position)
    }

    /// Removes the row ids at a range of positions.
    package mutating func removeSubrange(_ range: Range<Int>) {
        compact()
        if range.upperBound == elements.count, positions != nil {
            for rowID in elements[range] { positions?[rowID] = nil }
        } else {
            positions = nil
        }
        elements.removeSubrange(range)
    }

    private mutating func index() -> [Int64: Int] {
        if let positions { return positions }
        let found = Dictionary(elements.enumerated().lazy.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        positions = found
        return found
    }

    /// Removes the removed row ids from `elements`.
    private mutating func compact() {
        guard removedCount > 0, let known = positions else { return }
        elements = elements.indices.filter { known[elements[$0]] == $0 }.map { elements[$0] }
        removedCount = 0
        positions = nil
    }
}
