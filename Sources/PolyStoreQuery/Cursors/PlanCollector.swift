import PolyStoreBackend
import PolyStoreSearch

/// Collects the plan of every request to a ``WatchedTransaction``. Each request is executed twice, once for its statistics.
package final class PlanCollector {
    /// The plans, in the order of the requests.
    package private(set) var plans: [QueryPlan] = []
    /// The full-text searches whose results the next request contains as ids.
    private var searches: [SearchCondition] = []
    private var costs = SearchCosts()
    /// The time of the requests that were executed for the plans only.
    package private(set) var elapsed = Duration.zero

    /// Creates an empty collector.
    package init() {}

    /// Adds the plan of a request.
    package func add(_ request: WatchedTransaction.Request, _ inner: any ReadTransaction) throws {
        let start = ContinuousClock.now
        defer { elapsed += ContinuousClock.now - start }
        switch request {
        case .scan(let request), .count(let request): add(try inner.explain(request))
        case .aggregate(let request): add(try inner.explain(request.source))
        case .search(let condition, let request?):
            guard let hits = try inner.search(request) else { return }
            searches.append(condition)
            costs += hits.costs
        case .record, .related, .search: break
        }
    }

    private func add(_ plan: QueryPlan) {
        var plan = plan
        if !searches.isEmpty { plan.describe(searches, costs) }
        plans.append(plan)
        (searches, costs) = ([], SearchCosts())
    }
}
