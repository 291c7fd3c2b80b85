/// Drops the rows that a predicate does not select, and the slice outside limit and offset.
final class FilterCursor: RecordCursor {
    private let source: RecordCursor
    private let evaluator: PredicateEvaluator?
    private var skip: Int
    private var left: Int

    init(_ source: RecordCursor, layout: RecordLayout, predicate: QueryPredicate?, offset: Int, limit: Int?) {
        self.source = source
        evaluator = predicate.map(PredicateEvaluator.init)
        skip = offset
        left = limit ?? .max
        super.init(layout: layout)
    }

    override func next() throws -> Bool {
        while left > 0, try source.next() {
            if let evaluator, !evaluator.matches(id: source.id, source.record) { continue }
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
}

/// Rows that lie in an arena, in the order of a list of places.
public final class MaterializedCursor: RecordCursor {
    public struct Row {
        public let id: Int64
        public let offset: Int
        public let count: Int

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

    /// The arena must not change while the cursor is in use.
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

    /// Takes every row of a cursor that a predicate selects, sorts, and cuts out the slice of the request.
    static func sorted(_ source: RecordCursor, _ request: FetchRequest, predicate: QueryPredicate?, sort: Bool) throws -> MaterializedCursor
    {
        let evaluator = predicate.map(PredicateEvaluator.init)
        let arena = RecordArena()
        var rows: [Row] = []
        while try source.next() {
            if let evaluator, !evaluator.matches(id: source.id, source.record) { continue }
            rows.append(Row(id: source.id, offset: arena.append(source.record.bytes), count: source.record.count))
        }
        source.close()
        if sort { arena.sort(&rows, by: RecordOrder(request.sortKeys), layout: request.entity.layout) }
        let slice = rows.dropFirst(request.offset)
        return MaterializedCursor(arena, rows: request.limit.map { slice.prefix($0) } ?? slice, layout: request.entity.layout)
    }
}

extension RecordArena {
    /// The record at a place that this arena was told to keep.
    public func view(_ offset: Int, _ count: Int, _ layout: RecordLayout) -> RecordView {
        RecordView(trusting: storage + offset, count: count, layout: layout)
    }

    /// Sorts places of records in this arena.
    public func sort(_ rows: inout [MaterializedCursor.Row], by order: RecordOrder, layout: RecordLayout) {
        rows.sort { left, right in
            order.compare(left.id, view(left.offset, left.count, layout), right.id, view(right.offset, right.count, layout)) < 0
        }
    }
}

extension ReadTransaction {
    /// The rows of a request, whatever the backend left undone.
    public func fetch(_ request: FetchRequest) throws -> RecordCursor {
        try request.validate()
        if request.limit == 0 { return RecordCursor(layout: request.entity.layout) }
        let scan = try scan(request)
        let rest = scan.remainder
        if rest.isNothing { return scan.cursor }
        if rest.sort {
            return try MaterializedCursor.sorted(scan.cursor, request, predicate: rest.predicate, sort: true)
        }
        return FilterCursor(
            scan.cursor, layout: request.entity.layout, predicate: rest.predicate, offset: rest.slice ? request.offset : 0,
            limit: rest.slice ? request.limit : nil)
    }

    /// Counts by walking; a backend that can do better implements it.
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

    /// Without better knowledge: what `scan` leaves undone.
    public func plan(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        let scan = try scan(request)
        scan.cursor.close()
        return QueryPlan(entity: request.entity.name, access: "scan", remainder: scan.remainder.described(for: request))
    }
}
