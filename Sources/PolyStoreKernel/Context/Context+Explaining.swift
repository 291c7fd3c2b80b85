import PolyStoreBackend
import PolyStoreQuery

extension Context {
    /// Executes fetches and queries and returns a query plan for each request sent to a store, in order.
    ///
    ///     let (rows, plans) = try context.explaining {
    ///         try context.queryAttributes(From<Person>(), Select("age", .count), GroupBy("age"))
    ///     }
    ///
    /// Each request is executed twice, once for its statistics. The plan of an aggregate describes the fetch of its rows. Objects read individually,
    /// by id or through a relationship, have no plan; ``FetchOptions/prefetch`` avoids such reads.
    public func explaining<R>(_ body: () throws -> R) throws -> (result: R, plans: [QueryPlan]) {
        let outer = watcher
        let inner = Explainer()
        watcher = inner
        defer { watcher = outer }
        let result = try body()
        return (result, inner.plans)
    }
}

/// Collects the plan of every request.
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
