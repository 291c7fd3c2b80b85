/// A cursor that applies a residual predicate, limit and offset.
final class FilterCursor: RecordCursor {
    private let source: RecordCursor
    private let evaluator: PredicateEvaluator?
    private var skip: Int
    private var left: Int

    init(
        _ source: RecordCursor, layout: RecordLayout, predicate: QueryPredicate?, _ related: any RelatedRecords, offset: Int, limit: Int?
    ) {
        self.source = source
        evaluator = predicate.map { PredicateEvaluator($0, related) }
        skip = offset
        left = limit ?? .max
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while left > 0, try source.next() {
            if let evaluator, try !evaluator.matches(id: source.id, source.record) { continue }
            if skip > 0 {
                skip -= 1
                continue
            }
            left -= 1
            stand(on: source.id, source.record)
            return true
        }
        return false
    }

    override func close() { source.close() }

    override var rowsExamined: Int { source.rowsExamined }
}

/// A cursor over rows in an arena, in the order of a list.
public final class MaterializedCursor: RecordCursor {
    /// The position of a record in an arena.
    public struct Row {
        /// The row id.
        public let id: Int64
        /// The offset of the record in the arena, in bytes.
        public let offset: Int
        /// The length of the record, in bytes.
        public let count: Int

        /// Creates a row.
        public init(id: Int64, offset: Int, count: Int) {
            self.id = id
            self.offset = offset
            self.count = count
        }
    }

    private let arena: RecordArena
    private let rows: ArraySlice<Row>
    private let layout: RecordLayout
    private var position: Int

    /// Creates a cursor. The arena must not change while the cursor is in use.
    public init(_ arena: RecordArena, rows: ArraySlice<Row>, layout: RecordLayout) {
        self.arena = arena
        self.rows = rows
        self.layout = layout
        position = rows.startIndex
        super.init(layout: layout)
    }

    public override func next() throws -> Bool {
        guard position < rows.endIndex else { return false }
        let row = rows[position]
        position += 1
        stand(on: row.id, arena.view(row.offset, row.count, layout))
        return true
    }

    // The number of rows examined by the cursor that produced the rows.
    private var examined = 0
    public override var rowsExamined: Int { examined }

    /// Reads all rows of a cursor, applies a predicate, sorts, and returns the slice of the request. With a limit, at most twice as many rows as the end of
    /// the slice are kept.
    /// - Parameter related: looks up the related objects that conditions and sort keys refer to.
    package static func sorted(
        _ source: RecordCursor, _ request: FetchRequest, predicate: QueryPredicate?, _ related: any RelatedRecords
    ) throws -> MaterializedCursor {
        let evaluator = predicate.map { PredicateEvaluator($0, related) }
        let layout = request.entity.layout
        var rows = TopRows(request, related)
        while try source.next() {
            if let evaluator, try !evaluator.matches(id: source.id, source.record) { continue }
            try rows.add(source.id, source.record)
        }
        let cursor = rows.finish(layout, offset: request.offset, limit: request.limit)
        cursor.examined = source.rowsExamined
        source.close()
        return cursor
    }
}

/// Collects rows and discards those that cannot be in the slice (top-k).
private struct TopRows {
    private typealias Row = (place: MaterializedCursor.Row, values: [Value])

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
        if let bound, compare((id, record, values), (bound.place.id, view(bound), bound.values)) > 0 { return }
        rows.append((MaterializedCursor.Row(id: id, offset: arena.append(record.bytes), count: record.count), values))
        if let most, rows.count >= 2 * most { cut(most) }
    }

    private func view(_ row: Row) -> RecordView { arena.view(row.place.offset, row.place.count, layout) }

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
                    left.place.id, arena.view(left.place.offset, left.place.count, layout),
                    right.place.id, arena.view(right.place.offset, right.place.count, layout)) < 0
            }
        } else {
            rows.sort { order.compare($0.place.id, $0.values, $1.place.id, $1.values) < 0 }
        }
    }

    /// Keeps the first rows and moves them to a new arena.
    private mutating func cut(_ most: Int) {
        sort()
        let kept = RecordArena(capacity: arena.count / 2)
        rows = rows.prefix(most).map { row in
            let offset = kept.append(arena.bytes(row.place.offset, row.place.count))
            return (MaterializedCursor.Row(id: row.place.id, offset: offset, count: row.place.count), row.values)
        }
        arena = kept
        bound = rows.last
    }

    mutating func finish(_ layout: RecordLayout, offset: Int, limit: Int?) -> MaterializedCursor {
        sort()
        let slice = rows.map(\.place).dropFirst(offset)
        return MaterializedCursor(arena, rows: limit.map { slice.prefix($0) } ?? slice, layout: layout)
    }
}

extension RecordArena {
    /// Returns the record at an offset of this arena.
    public func view(_ offset: Int, _ count: Int, _ layout: RecordLayout) -> RecordView {
        RecordView(trusting: storage + offset, count: count, layout: layout)
    }

    /// Sorts rows of this arena.
    public func sort(_ rows: inout [MaterializedCursor.Row], by order: RecordOrder, layout: RecordLayout) {
        rows.sort { left, right in
            order.compare(left.id, view(left.offset, left.count, layout), right.id, view(right.offset, right.count, layout)) < 0
        }
    }
}

extension ReadTransaction {
    /// Executes a request. Applies the residual parts that the backend leaves.
    public func fetch(_ request: FetchRequest) throws -> RecordCursor {
        try request.validate()
        if request.limit == 0 { return RecordCursor(layout: request.entity.layout) }
        if request.hasComputedKeys {
            let scan = try scan(request.unsorted)
            return try MaterializedCursor.sorted(scan.cursor, request, predicate: scan.remainder.predicate, self)
        }
        let scan = try scan(request)
        let rest = scan.remainder
        if rest.isNothing { return scan.cursor }
        if rest.sort {
            return try MaterializedCursor.sorted(scan.cursor, request, predicate: rest.predicate, self)
        }
        return FilterCursor(
            scan.cursor, layout: request.entity.layout, predicate: rest.predicate, self, offset: rest.slice ? request.offset : 0,
            limit: rest.slice ? request.limit : nil)
    }

    /// Returns the number of rows by reading them. A backend can override this with a faster implementation.
    public func count(_ request: FetchRequest) throws -> Int {
        var request = request
        request.sortKeys = []
        request.onlyIDs = true
        let cursor = try fetch(request)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }
}
