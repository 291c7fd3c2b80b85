import PolyStoreBackend

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

    /// Creates a cursor over copies of the rows of another one, which it reads to its end and closes.
    package convenience init(copying source: RecordCursor, layout: RecordLayout) throws {
        defer { source.close() }
        let arena = RecordArena()
        var rows: [Row] = []
        while try source.next() {
            rows.append(Row(id: source.rowID, offset: arena.append(source.record.bytes), count: source.record.count))
        }
        self.init(arena, rows: rows[...], layout: layout)
    }

    public override func next() throws -> Bool {
        guard position < rows.endIndex else { return false }
        let row = rows[position]
        position += 1
        setCurrent(row.id, arena.view(row.offset, row.count, layout))
        return true
    }

    // The number of rows examined by the cursor that produced the rows, if there was one.
    private var examined: Int?
    /// The number of rows that were examined to produce the rows; if the rows were not read from another cursor, the number of rows returned so far.
    public override var rowsExamined: Int { examined ?? position - rows.startIndex }

    /// Reads all rows of a cursor, applies a predicate, sorts, and returns the slice of the request. With a limit, at most twice as many rows as the end of
    /// the slice are kept.
    /// - Parameter related: looks up the related objects that conditions and sort keys refer to.
    package static func sorted(
        _ source: RecordCursor, _ request: FetchRequest, predicate: QueryPredicate?, _ related: any RelatedRecords
    ) throws -> MaterializedCursor {
        let layout = request.entity.layout
        let (source, related) = source.ahead(predicate, request.sortKeys.compactMap(\.expression), related, layout)
        let evaluator = predicate.map { PredicateEvaluator($0, related) }
        var rows = TopRows(request, related)
        while try source.next() {
            if let evaluator, try !evaluator.matches(id: source.rowID, source.record) { continue }
            try rows.add(source.rowID, source.record)
        }
        let cursor = rows.finish(layout, offset: request.offset, limit: request.limit)
        cursor.examined = source.rowsExamined
        source.close()
        return cursor
    }
}

extension RecordArena {
    /// Sorts rows of this arena.
    public func sort(_ rows: inout [MaterializedCursor.Row], by order: RecordOrder, layout: RecordLayout) {
        rows.sort { left, right in
            order.compare(left.id, view(left.offset, left.count, layout), right.id, view(right.offset, right.count, layout)) < 0
        }
    }
}
