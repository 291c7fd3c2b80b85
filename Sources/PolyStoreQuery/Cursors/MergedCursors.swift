import PolyStoreBackend

/// The merged rows of several sorted cursors.
package final class MergedCursors {
    package private(set) var cursors: [RecordCursor] = []
    /// A Boolean value for each cursor that indicates whether it is positioned on a row that has not been returned.
    private var hasRow: [Bool] = []
    private let order: RecordOrder
    /// The computed sort keys, if the order is not by fields only: their evaluators and the values of the current rows, by cursor.
    private var sources: [SortValues] = []
    private var values: [[Value]] = []
    /// The cursor of the last row, which is advanced before the next row is selected.
    private var last: Int?

    package init(_ sortKeys: [SortKey]) { order = RecordOrder(sortKeys) }

    package func add(_ cursor: RecordCursor, _ source: SortValues?) throws {
        cursors.append(cursor)
        hasRow.append(false)
        if let source {
            sources.append(source)
            values.append([])
        }
        try move(cursors.count - 1)
    }

    private func move(_ index: Int) throws {
        hasRow[index] = try cursors[index].next()
        guard hasRow[index], !sources.isEmpty else { return }
        values[index] = try sources[index].values(cursors[index].rowID, cursors[index].record)
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        let order =
            sources.isEmpty
            ? order.compare(cursors[left].rowID, cursors[left].record, cursors[right].rowID, cursors[right].record)
            : order.compare(cursors[left].rowID, values[left], cursors[right].rowID, values[right])
        return order < 0
    }

    /// Advances to the next row.
    /// - Returns: the index of its cursor, or nil at the end. Among equal rows, that of the first store comes first.
    package func next() throws -> Int? {
        if let last { try move(last) }
        var best: Int?
        for index in cursors.indices where hasRow[index] {
            guard let least = best else {
                best = index
                continue
            }
            if precedes(index, least) { best = index }
        }
        last = best
        return best
    }

    package func close() { for cursor in cursors { cursor.close() } }
}
