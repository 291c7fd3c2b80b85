import PolyStoreBackend

extension Context {
    /// Runs fetches and queries, of objects or of values, and tells how each was carried out: a plan for every request that reached a store, in order.
    ///
    ///     let (rows, plans) = try context.explaining {
    ///         try context.queryAttributes(From<Person>(), Select("age", .count), GroupBy("age"))
    ///     }
    ///
    /// Each request is carried out twice, once to be counted. Of an aggregate the plan is of the rows that it is worked out of. Objects that are read one by
    /// one, by id or over a relationship, have no plan; they are what ``FetchOptions/prefetch`` saves.
    public func explaining<R>(_ body: () throws -> R) throws -> (result: R, plans: [QueryPlan]) {
        let outer = explainer
        let inner = Explainer()
        explainer = inner
        defer { explainer = outer }
        let result = try body()
        return (result, inner.plans)
    }
}

/// What was asked while somebody wanted to know.
final class Explainer {
    fileprivate(set) var plans: [QueryPlan] = []

    func watched(_ transaction: any ReadTransaction) -> any ReadTransaction { WatchedTransaction(transaction, self) }
}

/// Hands everything through and explains it.
private final class WatchedTransaction: ReadTransaction {
    private let inner: any ReadTransaction
    private let explainer: Explainer

    init(_ inner: any ReadTransaction, _ explainer: Explainer) {
        self.inner = inner
        self.explainer = explainer
    }

    private func note(_ request: FetchRequest) throws { explainer.plans.append(try inner.explain(request)) }

    var version: UInt64 { inner.version }
    func record(_ entity: Entity, id: Int64) throws -> RecordView? { try inner.record(entity, id: id) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try inner.related(relationship, of: sources) }

    func scan(_ request: FetchRequest) throws -> Scan {
        try note(request)
        return try inner.scan(request)
    }
    func count(_ request: FetchRequest) throws -> Int {
        try note(request)
        return try inner.count(request)
    }
    func aggregate(_ request: AggregateRequest) throws -> [AggregateRow] {
        try note(request.source)
        return try inner.aggregate(request)
    }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try inner.plan(request) }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try inner.explain(request) }
    func end() { inner.end() }
}
