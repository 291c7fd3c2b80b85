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
        let outer = watcher
        let inner = Explainer()
        watcher = inner
        defer { watcher = outer }
        let result = try body()
        return (result, inner.plans)
    }
}

/// Collects a plan for every request.
final class Explainer: ReadWatcher {
    private(set) var plans: [QueryPlan] = []

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(transaction) { [self] request, inner in
            switch request {
            case .scan(let request), .count(let request): plans.append(try inner.explain(request))
            case .aggregate(let request): plans.append(try inner.explain(request.source))
            case .record, .related: break
            }
        }
    }
}
