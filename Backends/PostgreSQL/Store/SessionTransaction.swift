import PolyStoreBackend
import PolyStoreQuery

/// A transaction whose reads are those of its session.
protocol SessionTransaction: OrdersByIndexedJSON {
    var session: Session { get }
    var pool: ConnectionPool { get }
}

extension SessionTransaction {
    var interruption: Interruption? {
        get { session.interruption }
        set { session.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try session.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try session.interruptible { try session.scan(request) } }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        // One of an object is read by its property, which cannot throw.
        if sources.count == 1 { return try session.related(relationship, of: sources) }
        return try session.interruptible { try session.related(relationship, of: sources) }
    }
    func count(_ request: FetchRequest) throws -> Int {
        try session.interruptible { try session.count(request) } ?? session.countRows(of: request, self)
    }
    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? { try session.interruptible { try session.scanGroups(request) } }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try session.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try session.explain(request, in: self) }
    func value(named name: String) throws -> [UInt8]? { try session.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try session.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try session.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try session.logBounds() }
}

extension Session {
    /// Counts the rows of a request whose condition the shared executor completes.
    fileprivate func countRows(of request: FetchRequest, _ transaction: any ReadTransaction) throws -> Int {
        var request = request
        (request.sortKeys, request.onlyIDs) = ([], true)
        let cursor = try transaction.fetch(request)
        defer { cursor.close() }
        var count = 0
        while try cursor.next() { count += 1 }
        return count
    }
}
