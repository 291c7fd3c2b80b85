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
        return (result, inner.collector.plans)
    }
}

/// Collects the plan of every request.
final class Explainer: ReadWatcher {
    let collector = PlanCollector()

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(transaction) { [collector] in try collector.add($0, $1) }
    }
}
