/// A sorted list in blocks. A search takes O(log n) comparisons; an insertion or removal moves the elements of at most one block.
///
/// The list does not know the order: its owner passes conditions that are true for the elements before a position and false for the others.
package struct BlockList<Element> {
    /// A position between two elements.
    package struct Position: Comparable {
        @usableFromInline var block: Int
        @usableFromInline var offset: Int

        @usableFromInline
        init(block: Int, offset: Int) { (self.block, self.offset) = (block, offset) }

        @inlinable
        package static func < (left: Position, right: Position) -> Bool { (left.block, left.offset) < (right.block, right.offset) }
    }

    @usableFromInline static var limit: Int { 512 }

    /// The sorted blocks; none is empty.
    @usableFromInline var blocks: [[Element]] = []

    /// - Parameter sorted: The elements in order.
    @inlinable
    package init(_ sorted: [Element] = []) {
        for start in stride(from: 0, to: sorted.count, by: Self.limit / 2) {
            blocks.append(Array(sorted[start..<min(start + Self.limit / 2, sorted.count)]))
        }
    }

    @inlinable
    package var start: Position { Position(block: 0, offset: 0) }
    @inlinable
    package var end: Position { Position(block: blocks.count, offset: 0) }

    /// Returns the element behind a position; `nil` at the end.
    @inlinable
    package subscript(position: Position) -> Element? { position.block < blocks.count ? blocks[position.block][position.offset] : nil }

    /// Returns the position behind all elements that satisfy a condition. These must precede all elements that do not.
    @inlinable
    package func position(behind holds: (Element) throws -> Bool) rethrows -> Position {
        let block = try (0..<blocks.count).partition { try holds(blocks[$0][blocks[$0].count - 1]) }
        guard block < blocks.count else { return Position(block: block, offset: 0) }
        return Position(block: block, offset: try (0..<blocks[block].count).partition { try holds(blocks[block][$0]) })
    }

    @inlinable
    package mutating func insert(_ element: Element, at position: Position) {
        guard !blocks.isEmpty else {
            blocks.append([element])
            return
        }
        var position = position
        // Past the last block: appends to it instead.
        if position.block == blocks.count { position = Position(block: blocks.count - 1, offset: blocks[blocks.count - 1].count) }
        blocks[position.block].insert(element, at: position.offset)
        let count = blocks[position.block].count
        guard count > Self.limit else { return }
        let second = Array(blocks[position.block][(count / 2)...])
        blocks[position.block].removeSubrange((count / 2)...)
        blocks.insert(second, at: position.block + 1)
    }

    /// Removes the element behind a position, which must not be the end.
    @inlinable
    package mutating func remove(at position: Position) {
        blocks[position.block].remove(at: position.offset)
        if blocks[position.block].isEmpty { blocks.remove(at: position.block) }
    }

    /// Returns the number of elements between two positions.
    @inlinable
    package func count(_ from: Position, _ to: Position) -> Int {
        guard from < to else { return 0 }
        return (from.block..<to.block).reduce(to.offset - from.offset) { $0 + blocks[$1].count }
    }

    /// Returns the elements between two positions, in order.
    @inlinable
    package func elements(_ from: Position, _ to: Position) -> [Element] {
        var elements: [Element] = []
        var block = from.block
        while block < blocks.count, Position(block: block, offset: 0) < to {
            let all = blocks[block][...]
            let head = block == to.block ? all.prefix(to.offset) : all
            elements += block == from.block ? head.dropFirst(from.offset) : head
            block += 1
        }
        return elements
    }

    /// Returns the first elements.
    @inlinable
    package func prefix(_ most: Int) -> [Element] {
        var elements: [Element] = []
        for block in blocks {
            if elements.count >= most { break }
            elements += block.prefix(most - elements.count)
        }
        return elements
    }
}
