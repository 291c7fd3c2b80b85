/// The row ids of a list in order, with their positions: a two-level order-statistic tree.
///
/// Rows are stored in blocks with the first 12 bytes of their sort keys. Most comparisons use only this prefix; the others read records. A Fenwick tree over
/// the counts of the blocks and a hash table from rows to blocks give positions. Each row takes 8 bytes for the id, 12 for the prefix, 10 to 15 for the table,
/// and unused capacity of blocks.
struct OrderedRows: Sendable {
    private struct Block: Sendable {
        var number: Int
        var rowIDs: [Int64] = []
        var prefixes = Prefixes()
    }

    /// The first bytes of a sort key, padded with zeros.
    struct Prefix: Sendable, Comparable {
        fileprivate let high: UInt64
        fileprivate let low: UInt32

        fileprivate init(_ high: UInt64, _ low: UInt32) { (self.high, self.low) = (high, low) }

        init(_ key: [UInt8]) {
            var high: UInt64 = 0
            for index in 0..<min(8, key.count) { high |= UInt64(key[index]) << UInt64(56 - 8 * index) }
            var low: UInt32 = 0
            for index in 8..<max(8, min(Self.count, key.count)) { low |= UInt32(key[index]) << UInt32(24 - 8 * (index - 8)) }
            self.init(high, low)
        }

        static let count = 12

        static func < (left: Prefix, right: Prefix) -> Bool { left.high != right.high ? left.high < right.high : left.low < right.low }
    }

    /// The prefixes of the rows of a block. They are split into two arrays, because one array would pad each prefix from 12 to 16 bytes.
    private struct Prefixes: Sendable {
        private var high: [UInt64] = []
        private var low: [UInt32] = []

        subscript(index: Int) -> Prefix { Prefix(high[index], low[index]) }

        mutating func reserveCapacity(_ count: Int) {
            high.reserveCapacity(count)
            low.reserveCapacity(count)
        }

        mutating func insert(_ prefix: Prefix, at index: Int) {
            high.insert(prefix.high, at: index)
            low.insert(prefix.low, at: index)
        }

        mutating func append(_ prefix: Prefix) {
            high.append(prefix.high)
            low.append(prefix.low)
        }

        mutating func remove(at index: Int) {
            high.remove(at: index)
            low.remove(at: index)
        }

        /// Moves the prefixes from an index on to other prefixes, which must be empty.
        mutating func move(from index: Int, to other: inout Prefixes) {
            other.high += high[index...]
            other.low += low[index...]
            high.removeSubrange(index...)
            low.removeSubrange(index...)
        }

        mutating func insert(contentsOf other: Prefixes, at index: Int) {
            high.insert(contentsOf: other.high, at: index)
            low.insert(contentsOf: other.low, at: index)
        }
    }

    private struct Location {
        var block: Int
        var offset: Int
    }

    /// The sort key of a row to insert.
    struct Key {
        let rowID: Int64
        let bytes: [UInt8]
        let prefix: Prefix
        /// A Boolean value that indicates whether the prefix is the whole key. Equal prefixes are then equal keys, because no key is a prefix of another.
        var isWhole: Bool { bytes.count <= Prefix.count }

        init(_ rowID: Int64, _ bytes: [UInt8]) {
            self.rowID = rowID
            self.bytes = bytes
            prefix = Prefix(bytes)
        }
    }

    private static let capacity = 256
    /// The number of rows per block when rows are appended in order.
    private static let fill = 240

    private var blocks: [Block] = []
    /// The index of each block, by block number; −1 for an unused number.
    private var indexes: [Int] = []
    private var freeNumbers: [Int] = []
    private var counts = PrefixCounts()
    private var locations = RowLocations()

    var count: Int { counts.total }

    // MARK: Loading

    /// Appends a row. Call ``finishLoading()`` before any other access.
    mutating func append(_ rowID: Int64, _ prefix: Prefix) {
        if (blocks.last?.rowIDs.count ?? Self.fill) == Self.fill {
            var block = Block(number: newNumber())
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

    /// Returns the rows in a range of positions.
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

    func position(of rowID: Int64) -> Int? { location(of: rowID).map { counts.sum(before: $0.block) + $0.offset } }

    func contains(_ rowID: Int64) -> Bool { location(of: rowID) != nil }

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

    mutating func remove(_ rowID: Int64) {
        guard let location = location(of: rowID) else { return }
        locations.remove(rowID, block: blocks[location.block].number)
        blocks[location.block].rowIDs.remove(at: location.offset)
        blocks[location.block].prefixes.remove(at: location.offset)
        counts.add(-1, at: location.block)
        let count = blocks[location.block].rowIDs.count
        if count == 0 {
            free(location.block)
        } else if count < Self.capacity / 4 {
            joinNeighbor(of: location.block)
        }
    }

    /// Inserts a row that is not in the list.
    /// - Parameter precedes: Returns whether a row with the same prefix precedes the new one.
    /// - Returns: The position of the row.
    @discardableResult
    mutating func insert(_ key: Key, precedes: (Int64) throws -> Bool) rethrows -> Int {
        if blocks.isEmpty {
            append(key.rowID, key.prefix)
            finishLoading()
            return 0
        }
        let location = try location(for: key, precedes)
        let position = counts.sum(before: location.block) + location.offset
        blocks[location.block].rowIDs.insert(key.rowID, at: location.offset)
        blocks[location.block].prefixes.insert(key.prefix, at: location.offset)
        counts.add(1, at: location.block)
        if locations.isFull { rebuildLocations() } else { locations.insert(key.rowID, block: blocks[location.block].number) }
        if blocks[location.block].rowIDs.count == Self.capacity { split(location.block) }
        return position
    }

    private func location(for key: Key, _ precedes: (Int64) throws -> Bool) rethrows -> Location {
        func isBefore(_ block: Int, _ offset: Int) throws -> Bool {
            let prefix = blocks[block].prefixes[offset]
            if prefix != key.prefix { return prefix < key.prefix }
            let rowID = blocks[block].rowIDs[offset]
            return key.isWhole ? rowID < key.rowID : try precedes(rowID)
        }
        let block = try Self.partition(blocks.count) { try isBefore($0, blocks[$0].rowIDs.count - 1) }
        // After all rows: the end of the last block.
        guard block < blocks.count else { return Location(block: blocks.count - 1, offset: blocks[blocks.count - 1].rowIDs.count) }
        return Location(block: block, offset: try Self.partition(blocks[block].rowIDs.count) { try isBefore(block, $0) })
    }

    /// Returns the first index for which a condition is false. It must be true for all earlier and false for all later indexes.
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
        // Reserves capacity for half as many more rows.
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
        var second = Block(number: newNumber())
        second.rowIDs.reserveCapacity(Self.capacity)
        second.prefixes.reserveCapacity(Self.capacity)
        second.rowIDs += blocks[index].rowIDs[half...]
        blocks[index].rowIDs.removeSubrange(half...)
        blocks[index].prefixes.move(from: half, to: &second.prefixes)
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
        blocks[neighbor].rowIDs.insert(contentsOf: rowIDs, at: offset)
        blocks[neighbor].prefixes.insert(contentsOf: blocks[index].prefixes, at: offset)
        free(index)
    }
}
