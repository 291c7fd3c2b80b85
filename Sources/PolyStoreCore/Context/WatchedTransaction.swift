import PolyStoreBackend
import PolyStoreQuery

/// A read transaction that reports each request before it forwards it.
final class WatchedTransaction: ReadTransaction {
    /// A request to a store.
    enum Request {
        case record(Entity, rowID: Int64)
        case related(Relationship, sources: Int)
        case scan(FetchRequest)
        case count(FetchRequest)
        case aggregate(AggregateRequest)
    }

    private let inner: any ReadTransaction
    private let report: (Request, any ReadTransaction) throws -> Void

    init(_ inner: any ReadTransaction, report: @escaping (Request, any ReadTransaction) throws -> Void) {
        self.inner = inner
        self.report = report
    }

    var version: UInt64 { inner.version }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        try report(.record(entity, rowID: rowID), inner)
        return try inner.record(entity, rowID: rowID)
    }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try report(.related(relationship, sources: sources.count), inner)
        return try inner.related(relationship, of: sources)
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try report(.scan(request), inner)
        return try inner.scan(request)
    }

    func count(_ request: FetchRequest) throws -> Int {
        try report(.count(request), inner)
        return try inner.count(request)
    }

    func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        // Scans the rows for other groups, so that the requests for related objects are reported.
        guard request.fieldGroups != nil else { return nil }
        try report(.aggregate(request), inner)
        return GroupScan(all: try inner.aggregate(request.allGroups), of: request)
    }

    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    func logBounds() throws -> LogBounds { try inner.logBounds() }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }
    func end() { inner.end() }
}
