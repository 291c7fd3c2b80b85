import PolyStoreBackend
import PolyStoreSearch

/// A read transaction that reports each request before it forwards it.
package final class WatchedTransaction: OrdersByIndexedJSON {
    /// A request to a store.
    package enum Request {
        case record(Entity, rowID: Int64)
        case related(Relationship, sources: Int)
        case scan(FetchRequest)
        case count(FetchRequest)
        case aggregate(AggregateRequest)
        /// A full-text search by its index; without a request for the statistics of one.
        case search(SearchCondition, SearchRequest?)
    }

    let inner: any ReadTransaction
    private let report: (Request, any ReadTransaction) throws -> Void

    package init(_ inner: any ReadTransaction, report: @escaping (Request, any ReadTransaction) throws -> Void) {
        self.inner = inner
        self.report = report
    }

    package var version: UInt64 { get throws { try inner.version } }
    package var ordersByIndexedJSON: Bool { (inner as? any OrdersByIndexedJSON)?.ordersByIndexedJSON ?? false }

    package var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }

    package func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        try report(.record(entity, rowID: rowID), inner)
        return try inner.record(entity, rowID: rowID)
    }

    package func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try report(.related(relationship, sources: sources.count), inner)
        return try inner.related(relationship, of: sources)
    }

    package func scan(_ request: FetchRequest) throws -> Scan {
        try report(.scan(request), inner)
        return try inner.scan(request)
    }

    package func count(_ request: FetchRequest) throws -> Int {
        try report(.count(request), inner)
        return try inner.count(request)
    }

    package func scanGroups(_ request: AggregateRequest) throws -> GroupScan? {
        // Scans the rows for other groups, so that the requests for related objects are reported.
        guard request.fieldGroups != nil else { return nil }
        try report(.aggregate(request), inner)
        return GroupScan(all: try inner.aggregate(request.allGroups), of: request)
    }

    package func search(_ request: SearchRequest) throws -> SearchHits? {
        try report(.search(request.condition, request), inner)
        return try inner.search(request)
    }

    package func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? {
        try report(.search(condition, nil), inner)
        return try inner.searchStatistics(condition)
    }

    package func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    package func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    package func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] { try inner.logEntries(after: position, limit: limit) }
    package func logBounds() throws -> LogBounds { try inner.logBounds() }
    package func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    package func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }
    package func end() { inner.end() }
}
