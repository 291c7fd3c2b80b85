import PolyStoreBackend
import PolyStoreKernel
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
        var elapsed = Duration.zero
        return try explaining(elapsed: &elapsed, body)
    }

    /// Executes fetches and queries and returns a query plan for each request sent to a store, as ``explaining(_:)`` does, with the time that they took.
    /// - Parameter elapsed: Receives the time of the function without that of the executions for the plans.
    public func explaining<R>(elapsed: inout Duration, _ body: () throws -> R) throws -> (result: R, plans: [QueryPlan]) {
        let outer = watcher
        let inner = Explainer()
        watcher = inner
        defer { watcher = outer }
        let start = ContinuousClock.now
        let result = try body()
        elapsed = ContinuousClock.now - start - inner.collector.elapsed
        return (result, inner.collector.plans)
    }
}

/// Collects the plan of every request.
private final class Explainer: ReadWatcher {
    let collector = PlanCollector()

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(transaction) { [collector] in try collector.add($0, $1) }
    }
}
