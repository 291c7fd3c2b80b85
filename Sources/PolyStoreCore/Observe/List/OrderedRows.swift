/// The row ids of a list in its order, with the position of each: an order-statistic tree of two levels.
///
/// Rows are kept in blocks with the first 8 bytes of their sort keys; most comparisons need no more, the others read records. A Fenwick tree over the blocks' counts
/// and a hash table from rows to blocks give positions. Per row: 8 bytes for the id, 8 for the prefix, 10 to 15 for the table, and what is free in blocks.
struct OrderedRows: Sendable {
    private struct Block: Sendable {
        var number: Int
        var rowIDs: [Int64]
        var prefixes: [UInt64]
    }

    private struct Place {
        var block: Int
        var offset: Int
    }

    /// The sort key of a row to be inserted.
    struct Key {
        let rowID: Int64
        let bytes: [UInt8]
        let prefix: UInt64
        /// A Boolean value that indicates whether the prefix is the whole key: equal prefixes are then equal keys, as no key is the beginning of another.
        var isWhole: Bool { bytes.count <= 8 }

        init(_ rowID: Int64, _ bytes: [UInt8]) {
            self.rowID = rowID
            self.bytes = bytes
            prefix = SortKeyEncoder.prefix(bytes)
        }
    }

    private static let capacity = 256
    /// So many rows a block gets when it is filled in order.
    private static let fill = 240

    private var blocks: [Block] = []
    /// By block number: its index; −1 for a number that is free.
    private var indexes: [Int] = []
    private var freeNumbers: [Int] = []
    private var counts = PrefixCounts()
    private var locations = RowLocations()

    var count: Int { counts.total }

    // MARK: Loading

    /// Adds a row behind all others. ``finishLoading()`` must follow before anything else is asked.
    mutating func append(_ rowID: Int64, _ prefix: UInt64) {
        if (blocks.last?.rowIDs.count ?? Self.fill) == Self.fill {
            var block = Block(number: newNumber(), rowIDs: [], prefixes: [])
            block.rowIDs.reserveCapacity(Self.capacity)
            block.prefixes.reserveCapacity(Self.capacity)
            blocks.append(block)
        }
        blocks[blocks.count - 1].rowIDs.append(rowID)
        blocks[blocks.count - 1].prefixes.append(prefix)
    }

    mutating func finishLoading() {
        didChangeBlocks()
        rebuildLocations()
    }

    // MARK: Positions

    subscript(position: Int) -> Int64 {
        let (block, offset) = counts.group(at: position)
        return blocks[block].rowIDs[offset]
    }

    /// The rows of a range of positions.
    subscript(range: Range<Int>) -> [Int64] {
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

    func position(of rowID: Int64) -> Int? { place(of: rowID).map { counts.sum(before: $0.block) + $0.offset } }

    func contains(_ rowID: Int64) -> Bool { place(of: rowID) != nil }

    private func place(of rowID: Int64) -> Place? {
        var offset: Int?
        let number = locations.block(of: rowID) { number in
            guard number < indexes.count, indexes[number] >= 0 else { return false }
            offset = blocks[indexes[number]].rowIDs.firstIndex(of: rowID)
            return offset != nil
        }
        guard let number, let offset else { return nil }
        return Place(block: indexes[number], offset: offset)
    }

    // MARK: Changes

    mutating func remove(_ rowID: Int64) {
        guard let place = place(of: rowID) else { return }
        locations.remove(rowID, block: blocks[place.block].number)
        blocks[place.block].rowIDs.remove(at: place.offset)
        blocks[place.block].prefixes.remove(at: place.offset)
        counts.add(-1, at: place.block)
        let count = blocks[place.block].rowIDs.count
        if count == 0 {
            free(place.block)
        } else if count < Self.capacity / 4 {
            joinNeighbor(of: place.block)
        }
    }

    /// Inserts a row that is not in the list.
    /// - Parameter precedes: tells whether the row of an id, whose key begins as the new one does, comes before the new one.
    /// - Returns: its position.
    @discardableResult
    mutating func insert(_ key: Key, precedes: (Int64) throws -> Bool) rethrows -> Int {
        if blocks.isEmpty {
            append(key.rowID, key.prefix)
            finishLoading()
            return 0
        }
        let place = try place(for: key, precedes)
        let position = counts.sum(before: place.block) + place.offset
        blocks[place.block].rowIDs.insert(key.rowID, at: place.offset)
        blocks[place.block].prefixes.insert(key.prefix, at: place.offset)
        counts.add(1, at: place.block)
        if locations.isFull { rebuildLocations() } else { locations.insert(key.rowID, block: blocks[place.block].number) }
        if blocks[place.block].rowIDs.count == Self.capacity { split(place.block) }
        return position
    }

    private func place(for key: Key, _ precedes: (Int64) throws -> Bool) rethrows -> Place {
        func isBefore(_ block: Int, _ offset: Int) throws -> Bool {
            let prefix = blocks[block].prefixes[offset]
            if prefix != key.prefix { return prefix < key.prefix }
            let rowID = blocks[block].rowIDs[offset]
            return key.isWhole ? rowID < key.rowID : try precedes(rowID)
        }
        let block = try Self.partition(blocks.count) { try isBefore($0, blocks[$0].rowIDs.count - 1) }
        // Behind all: at the end of the last block.
        guard block < blocks.count else { return Place(block: blocks.count - 1, offset: blocks[blocks.count - 1].rowIDs.count) }
        return Place(block: block, offset: try Self.partition(blocks[block].rowIDs.count) { try isBefore(block, $0) })
    }

    /// The first index that a condition does not hold for; it must hold for all before it and for none behind it.
    private static func partition(_ count: Int, _ holds: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if try holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: Blocks

    private mutating func newNumber() -> Int {
        if let number = freeNumbers.popLast() { return number }
        indexes.append(-1)
        return indexes.count - 1
    }

    private mutating func didChangeBlocks() {
        for (index, block) in blocks.enumerated() { indexes[block.number] = index }
        counts = PrefixCounts(blocks.map(\.rowIDs.count))
    }

    private mutating func rebuildLocations() {
        // Room for half as many more.
        locations = RowLocations(capacity: count + count / 2)
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
        var second = Block(number: newNumber(), rowIDs: [], prefixes: [])
        second.rowIDs.reserveCapacity(Self.capacity)
        second.prefixes.reserveCapacity(Self.capacity)
        second.rowIDs += blocks[index].rowIDs[half...]
        second.prefixes += blocks[index].prefixes[half...]
        blocks[index].rowIDs.removeSubrange(half...)
        blocks[index].prefixes.removeSubrange(half...)
        for rowID in second.rowIDs { locations.move(rowID, from: blocks[index].number, to: second.number) }
        blocks.insert(second, at: index + 1)
        didChangeBlocks()
    }

    /// Moves the rows of a small block into the block before or behind it, if that has room for them and more.
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
        blocks[neighbor].rowIDs.insert(contentsOf: rowIDs, at: offset)
        blocks[neighbor].prefixes.insert(contentsOf: blocks[index].prefixes, at: offset)
        free(index)
    }
}
