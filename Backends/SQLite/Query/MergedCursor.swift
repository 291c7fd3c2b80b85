import PolyStoreBackend
import PolyStoreCollections
import PolyStoreQuery

/// A cursor over the rows of several cursors, which are each in the requested order.
final class MergedCursor: RecordCursor {
    private let cursors: [SQLiteCursor]
    private let order: RecordOrder
    /// The cursors that are at a row; the one with the next row is the last element.
    @exclusivity(unchecked) private var waiting: [SQLiteCursor] = []
    /// The cursor of the current row.
    @exclusivity(unchecked) private var current: SQLiteCursor?
    @exclusivity(unchecked) private var isStarted = false
    @exclusivity(unchecked) private var skip: Int
    @exclusivity(unchecked) private var left: Int

    /// - Parameter request: The request. Its order, limit and offset apply.
    init(_ cursors: [SQLiteCursor], _ request: FetchRequest) {
        self.cursors = cursors
        order = RecordOrder(request.sortKeys)
        skip = request.offset
        left = request.limit ?? .max
        super.init(layout: request.entity.layout)
    }

    deinit { close() }

    override var rowsExamined: Int { cursors.reduce(0) { $0 + $1.rowsExamined } }

    private func insert(_ cursor: SQLiteCursor) {
        let index = (0..<waiting.count).partition { order.compare(cursor.rowID, cursor.record, waiting[$0].rowID, waiting[$0].record) < 0 }
        waiting.insert(cursor, at: index)
    }

    override func next() throws -> Bool {
        if !isStarted {
            isStarted = true
            for cursor in cursors where try cursor.next() { insert(cursor) }
        }
        while left > 0 {
            // The record of the current row is valid until this step.
            if let last = current, try last.next() { insert(last) }
            current = waiting.popLast()
            guard let current else { break }
            if skip > 0 {
                skip -= 1
                continue
            }
            left -= 1
            setCurrent(current.rowID, current.record)
            return true
        }
        close()
        return false
    }

    override func close() {
        for cursor in cursors { cursor.close() }
        waiting = []
        current = nil
        left = 0
    }
}
