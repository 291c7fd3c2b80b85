import PolyStoreBackend
import PolyStoreCollections
import PolyStoreQuery

/// Pending rows sorted by sort keys. Inserting or removing a row takes a binary search and moves the rows of at most one block.
struct PendingOrder {
    /// Returns the id and the record of a row.
    typealias Record = (Int32) -> (id: Int64, view: RecordView)

    private let order: RecordOrder
    /// The rows in order.
    private(set) var rows: BlockList<Int32>

    var keys: [SortKey] { order.keys }

    init(_ keys: [SortKey], _ rows: some Sequence<Int32>, _ record: Record) {
        order = RecordOrder(keys)
        let order = order
        let sorted = rows.sorted { left, right in
            let (left, right) = (record(left), record(right))
            return order.compare(left.id, left.view, right.id, right.view) < 0
        }
        self.rows = BlockList(sorted)
    }

    /// Inserts a row that is not contained.
    mutating func insert(_ row: Int32, _ record: Record) { rows.insert(row, at: position(of: row, record)) }

    /// Removes a row. Its record must not have changed since it was inserted.
    mutating func remove(_ row: Int32, _ record: Record) {
        let position = position(of: row, record)
        if rows[position] == row { rows.remove(at: position) }
    }

    private func position(of row: Int32, _ record: Record) -> BlockList<Int32>.Position {
        let (id, view) = record(row)
        return rows.position { other in
            let other = record(other)
            return order.compare(other.id, other.view, id, view) < 0
        }
    }
}
