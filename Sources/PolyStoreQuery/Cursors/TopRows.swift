import PolyStoreBackend

/// Collects rows and discards those that cannot be in the slice (top-k).
struct TopRows {
    private typealias Row = (stored: MaterializedCursor.Row, values: [Value])

    private let order: RecordOrder
    private let layout: RecordLayout
    /// Computes the sort values if a key is an expression.
    private let values: SortValues?
    /// The end of the slice; nil to keep all rows.
    private let most: Int?
    private var arena = RecordArena()
    private var rows: [Row] = []
    /// The last of the first `most` rows, once that many were collected. Rows after it are discarded.
    private var bound: Row?

    init(_ request: FetchRequest, _ related: any RelatedRecords) {
        order = RecordOrder(request.sortKeys)
        layout = request.entity.layout
        values = request.hasComputedKeys ? SortValues(request.sortKeys, related) : nil
        // If the slice is too large to save memory, all rows are kept.
        most = request.limit.flatMap { limit in
            let (end, overflow) = limit.addingReportingOverflow(request.offset)
            return overflow || end > 1 << 24 ? nil : max(end, 16)
        }
    }

    mutating func add(_ id: Int64, _ record: RecordView) throws {
        let values = try values?.values(id, record) ?? []
        if let bound, compare((id, record, values), (bound.stored.id, view(bound), bound.values)) > 0 { return }
        rows.append((MaterializedCursor.Row(id: id, offset: arena.append(record.bytes), count: record.count), values))
        if let most, rows.count >= 2 * most { cut(most) }
    }

    private func view(_ row: Row) -> RecordView { arena.view(row.stored.offset, row.stored.count, layout) }

    private func compare(
        _ left: (id: Int64, record: RecordView, values: [Value]), _ right: (id: Int64, record: RecordView, values: [Value])
    ) -> Int {
        values == nil
            ? order.compare(left.id, left.record, right.id, right.record) : order.compare(left.id, left.values, right.id, right.values)
    }

    private mutating func sort() {
        let (arena, layout, order) = (arena, layout, order)
        if values == nil {
            rows.sort { left, right in
                order.compare(
                    left.stored.id, arena.view(left.stored.offset, left.stored.count, layout),
                    right.stored.id, arena.view(right.stored.offset, right.stored.count, layout)) < 0
            }
        } else {
            rows.sort { order.compare($0.stored.id, $0.values, $1.stored.id, $1.values) < 0 }
        }
    }

    /// Keeps the first rows and moves them to a new arena.
    private mutating func cut(_ most: Int) {
        sort()
        let kept = RecordArena(capacity: arena.count / 2)
        rows = rows.prefix(most).map { row in
            let offset = kept.append(arena.bytes(row.stored.offset, row.stored.count))
            return (MaterializedCursor.Row(id: row.stored.id, offset: offset, count: row.stored.count), row.values)
        }
        arena = kept
        bound = rows.last
    }

    mutating func finish(_ layout: RecordLayout, offset: Int, limit: Int?) -> MaterializedCursor {
        sort()
        let slice = rows.map(\.stored).dropFirst(offset)
        return MaterializedCursor(arena, rows: limit.map { slice.prefix($0) } ?? slice, layout: layout)
    }
}
