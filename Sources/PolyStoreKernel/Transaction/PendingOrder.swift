import PolyStoreBackend
import PolyStoreQuery

/// Pending rows sorted by sort keys, in blocks. Inserting or removing a row takes a binary search and moves the rows of at most one block.
struct PendingOrder {
    /// Returns the id and the record of a row.
    typealias Record = (Int32) -> (id: Int64, view: RecordView)

    /// A position between two rows.
    struct Position: Comparable {
        var block: Int
        var offset: Int

        static func < (left: Position, right: Position) -> Bool { (left.block, left.offset) < (right.block, right.offset) }
    }

    private static let blockLimit = 512

    private let order: RecordOrder
    /// The sorted blocks; none is empty.
    private var blocks: [[Int32]] = []

    var keys: [SortKey] { order.keys }

    init(_ keys: [SortKey], _ rows: some Sequence<Int32>, _ record: Record) {
        order = RecordOrder(keys)
        let order = order
        let sorted = rows.sorted { left, right in
            let (left, right) = (record(left), record(right))
            return order.compare(left.id, left.view, right.id, right.view) < 0
        }
        for start in stride(from: 0, to: sorted.count, by: Self.blockLimit / 2) {
            blocks.append(Array(sorted[start..<min(start + Self.blockLimit / 2, sorted.count)]))
        }
    }

    /// Inserts a row that is not contained.
    mutating func insert(_ row: Int32, _ record: Record) {
        guard !blocks.isEmpty else {
            blocks.append([row])
            return
        }
        var position = position(of: row, record)
        // Past the last block: appends to it instead.
        if position.block == blocks.count { position = Position(block: blocks.count - 1, offset: blocks[blocks.count - 1].count) }
        blocks[position.block].insert(row, at: position.offset)
        let count = blocks[position.block].count
        guard count > Self.blockLimit else { return }
        let second = Array(blocks[position.block][(count / 2)...])
        blocks[position.block].removeSubrange((count / 2)...)
        blocks.insert(second, at: position.block + 1)
    }

    /// Removes a row. Its record must not have changed since it was inserted.
    mutating func remove(_ row: Int32, _ record: Record) {
        let position = position(of: row, record)
        guard position.block < blocks.count, blocks[position.block][position.offset] == row else { return }
        blocks[position.block].remove(at: position.offset)
        if blocks[position.block].isEmpty { blocks.remove(at: position.block) }
    }

    private func position(of row: Int32, _ record: Record) -> Position {
        let (id, view) = record(row)
        return position { other in
            let other = record(other)
            return order.compare(other.id, other.view, id, view) < 0
        }
    }

    /// Returns the position after all rows that satisfy a condition. These must precede all rows that do not.
    func position(behind holds: (Int32) throws -> Bool) rethrows -> Position {
        let block = try Self.partition(blocks.count) { try holds(blocks[$0][blocks[$0].count - 1]) }
        guard block < blocks.count else { return Position(block: block, offset: 0) }
        return Position(block: block, offset: try Self.partition(blocks[block].count) { try holds(blocks[block][$0]) })
    }

    private static func partition(_ count: Int, _ holds: (Int) throws -> Bool) rethrows -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if try holds(middle) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    var start: Position { Position(block: 0, offset: 0) }
    var end: Position { Position(block: blocks.count, offset: 0) }

    /// Returns the number of rows between two positions.
    func count(_ from: Position, _ to: Position) -> Int {
        guard from < to else { return 0 }
        return (from.block..<to.block).reduce(to.offset - from.offset) { $0 + blocks[$1].count }
    }

    /// Returns the rows between two positions, in order.
    func rows(_ from: Position, _ to: Position) -> [Int32] {
        var rows: [Int32] = []
        var block = from.block
        while block < blocks.count, Position(block: block, offset: 0) < to {
            let all = blocks[block][...]
            let head = block == to.block ? all.prefix(to.offset) : all
            rows += block == from.block ? head.dropFirst(from.offset) : head
            block += 1
        }
        return rows
    }

    /// Returns the first rows.
    func prefix(_ most: Int) -> [Int32] {
        var rows: [Int32] = []
        for block in blocks {
            if rows.count >= most { break }
            rows += block.prefix(most - rows.count)
        }
        return rows
    }
}
