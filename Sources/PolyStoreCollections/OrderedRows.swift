/// The row ids of a list in order, with their positions: a two-level order-statistic tree.
///
/// Rows are stored in blocks. A block has the bytes that all of its sort keys share once, and the next 16 bytes of each key. Most comparisons use only these
/// bytes; the others read records. The search for the block uses the first bytes of the last key of each block, which lie next to each other. A Fenwick tree
/// over the counts of the blocks and a hash table from rows to blocks give positions. Each row takes 8 bytes for the id, 16 for the prefix, 10 to 12.5 for
/// the table, and unused capacity of blocks.
package struct OrderedRows: Sendable {
    private struct Location {
        var block: Int
        var offset: Int
    }

    /// The sort key of a row to insert. No key is a prefix of another.
    package struct Key {
        package let rowID: Int64
        package let bytes: [UInt8]
        package let prefix: Prefix

        package init(_ rowID: Int64, _ bytes: [UInt8]) {
            self.rowID = rowID
            self.bytes = bytes
            prefix = Prefix(bytes)
        }
    }

    static let capacity = 256

    private var blocks: [Block]
    /// The first bytes of the last key of each block.
    private var tops: [Prefix] = []
    /// The index of each block, by block number; −1 for an unused number.
    private var indexes: [Int]
    private var freeNumbers: [Int] = []
    private var counts = PrefixCounts()
    private var locations = RowLocations()

    package init() { self.init([]) }

    /// Creates a list of blocks with the numbers from 0 on.
    init(_ blocks: [Block]) {
        self.blocks = blocks
        indexes = Array(repeating: -1, count: blocks.count)
        didChangeBlocks()
        rebuildLocations()
    }

    package var count: Int { counts.total }

    // MARK: Positions

    package subscript(position: Int) -> Int64 {
        let (block, offset) = counts.group(at: position)
        return blocks[block].rowIDs[offset]
    }

    /// Returns the rows in a range of positions.
    package subscript(range: Range<Int>) -> [Int64] {
        var rows: [Int64] = []
        guard !range.isEmpty else { return rows }
        rows.reserveCapacity(range.count)
        var (block, offset) = counts.group(at: range.lowerBound)
        while rows.count < range.count {
            rows += blocks[block].rowIDs[offset...].prefix(range.count - rows.count)
            (block, offset) = (block + 1, 0)
        }
        return rows
    }

    package func position(of rowID: Int64) -> Int? { location(of: rowID).map { counts.sum(before: $0.block) + $0.offset } }

    package func contains(_ rowID: Int64) -> Bool { location(of: rowID) != nil }

    private func location(of rowID: Int64) -> Location? {
        var offset: Int?
        let number = locations.block(of: rowID) { number in
            guard number < indexes.count, indexes[number] >= 0 else { return false }
            offset = blocks[indexes[number]].rowIDs.firstIndex(of: rowID)
            return offset != nil
        }
        guard let number, let offset else { return nil }
        return Location(block: indexes[number], offset: offset)
    }

    // MARK: Changes

    package mutating func remove(_ rowID: Int64) {
        guard let location = location(of: rowID) else { return }
        locations.remove(rowID, block: blocks[location.block].number)
        blocks[location.block].remove(at: location.offset)
        counts.add(-1, at: location.block)
        let count = blocks[location.block].rowIDs.count
        if count == 0 { return free(location.block) }
        if location.offset == count { tops[location.block] = blocks[location.block].top }
        if count < Self.capacity / 4 { joinNeighbor(of: location.block) }
    }

    /// Inserts a row that is not in the list.
    /// - Parameter precedes: Returns whether a row with the same prefix precedes the new one.
    /// - Returns: The position of the row.
    @discardableResult
    package mutating func insert(_ key: Key, precedes: (Int64) throws -> Bool) rethrows -> Int {
        if blocks.isEmpty {
            var loader = Loader()
            loader.append(key.rowID, key.bytes)
            self = loader.finish()
            return 0
        }
        let location = try location(for: key, precedes)
        let position = counts.sum(before: location.block) + location.offset
        blocks[location.block].insert(key, at: location.offset)
        counts.add(1, at: location.block)
        let count = blocks[location.block].rowIDs.count
        if location.offset == count - 1 { tops[location.block] = key.prefix }
        if locations.isFull { rebuildLocations() } else { locations.insert(key.rowID, block: blocks[location.block].number) }
        if count == Self.capacity { split(location.block) }
        return position
    }

    private func location(for key: Key, _ precedes: (Int64) throws -> Bool) rethrows -> Location {
        let index = try (0..<blocks.count).partition { index in
            let top = tops[index]
            return try top == key.prefix ? blocks[index].isLastRow(before: key, precedes) : top < key.prefix
        }
        // After all rows: the end of the last block.
        guard index < blocks.count else { return Location(block: index - 1, offset: blocks[index - 1].rowIDs.count) }
        if index > 0, !blocks[index].shares(key), blocks[index - 1].shares(key), blocks[index - 1].rowIDs.count < Self.capacity - 1 {
            // Between two blocks, the row goes where its key shares the bytes of the others.
            return Location(block: index - 1, offset: blocks[index - 1].rowIDs.count)
        }
        return Location(block: index, offset: try blocks[index].offset(for: key, precedes))
    }

    // MARK: Blocks

    private mutating func newNumber() -> Int {
        if let number = freeNumbers.popLast() { return number }
        indexes.append(-1)
        return indexes.count - 1
    }

    private mutating func didChangeBlocks() {
        tops = blocks.map(\.top)
        for (index, block) in blocks.enumerated() { indexes[block.number] = index }
        counts = PrefixCounts(blocks.map(\.rowIDs.count))
    }

    private mutating func rebuildLocations() {
        // Reserves capacity for a quarter more rows.
        locations = RowLocations(capacity: count + count / 4)
        for block in blocks { for rowID in block.rowIDs { locations.insert(rowID, block: block.number) } }
    }

    private mutating func free(_ index: Int) {
        indexes[blocks[index].number] = -1
        freeNumbers.append(blocks[index].number)
        blocks.remove(at: index)
        didChangeBlocks()
    }

    private mutating func split(_ index: Int) {
        let half = blocks[index].rowIDs.count / 2
        let second = blocks[index].split(at: half, number: newNumber())
        for rowID in second.rowIDs { locations.move(rowID, from: blocks[index].number, to: second.number) }
        blocks.insert(second, at: index + 1)
        didChangeBlocks()
    }

    /// Merges a small block into a neighboring block that has enough free capacity.
    private mutating func joinNeighbor(of index: Int) {
        let count = blocks[index].rowIDs.count
        guard
            let neighbor = [index - 1, index + 1].first(where: {
                blocks.indices.contains($0) && blocks[$0].rowIDs.count + count < Self.capacity * 3 / 4
            })
        else { return }
        let rowIDs = blocks[index].rowIDs
        for rowID in rowIDs { locations.move(rowID, from: blocks[index].number, to: blocks[neighbor].number) }
        let offset = neighbor < index ? blocks[neighbor].rowIDs.count : 0
        blocks[neighbor].insert(contentsOf: blocks[index], at: offset)
        free(index)
    }
}
