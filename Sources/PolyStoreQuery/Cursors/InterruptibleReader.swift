import PolyStoreBackend
import PolyStoreSearch

extension ReadTransaction {
    /// Returns a transaction whose requests an interruption ends: this one, or, if its backend does not store interruptions, one that checks it between the rows that the
    /// backend returns.
    package func interruptible(by interruption: Interruption) -> any ReadTransaction {
        if self.interruption === interruption { return self }
        self.interruption = interruption
        return self.interruption === interruption ? self : InterruptibleReader(self, interruption)
    }
}

/// A read transaction of a backend that does not store interruptions. It checks an interruption at the beginning of each request and between rows, so that a request ends
/// unless the backend itself examines many rows without returning them.
private final class InterruptibleReader: OrdersByIndexedJSON, ServerRecords {
    private let inner: any ReadTransaction
    var interruption: Interruption?

    init(_ inner: any ReadTransaction, _ interruption: Interruption) { (self.inner, self.interruption) = (inner, interruption) }

    var version: UInt64 { get throws { try inner.version } }
    var ordersByIndexedJSON: Bool { (inner as? any OrdersByIndexedJSON)?.ordersByIndexedJSON ?? false }
    var server: ServerSnapshot? { (inner as? any ServerRecords)?.server }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        if sources.count > 1 { try interruption?.check() }
        return try inner.related(relationship, of: sources)
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try interruption?.check()
        let scan = try inner.scan(request)
        return Scan(InterruptibleCursor(scan.cursor, request.entity.layout, interruption), residual: scan.residual)
    }

    func count(_ request: FetchRequest) throws -> Int {
        try interruption?.check()
        return try inner.count(request)
    }

    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        try interruption?.check()
        return try inner.scanGroups(request)
    }

    func search(_ request: SearchRequest) throws -> SearchHits? {
        try interruption?.check()
        return try inner.search(request)
    }

    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }
    func renew() -> Bool { inner.renew() }
    func end() { inner.end() }
}

/// A cursor that checks an interruption between rows.
private final class InterruptibleCursor: RecordCursor {
    private let inner: RecordCursor
    private let interruption: Interruption?
    private var count = 0

    init(_ inner: RecordCursor, _ layout: RecordLayout, _ interruption: Interruption?) {
        (self.inner, self.interruption) = (inner, interruption)
        super.init(layout: layout)
    }

    deinit { inner.close() }

    override func next() throws -> Bool {
        count += 1
        if count % 1000 == 0 { try interruption?.check() }
        guard try inner.next() else { return false }
        setCurrent(inner.rowID, inner.record)
        return true
    }

    override func close() { inner.close() }
    override var rowsExamined: Int { inner.rowsExamined }
}
