import PolyStoreBackend
import PolyStoreQuery

/// Logs every request of a context at `trace`: the request and its query plan, with the statement of the engine if it has one.
final class QueryLog: ReadWatcher {
    private let logger: any StoreLogger
    private let site: CallSite

    /// Creates the log of a context that is created or moves to another version; it is not checked for each request.
    /// - Returns: nil unless the logger accepts `trace`. Not a failable initializer, which would allocate the object first.
    static func make(_ logger: any StoreLogger, _ site: CallSite) -> QueryLog? {
        logger.isEnabled(.trace) ? QueryLog(logger, site) : nil
    }

    private init(_ logger: any StoreLogger, _ site: CallSite) {
        self.logger = logger
        self.site = site
    }

    func watched(_ transaction: any ReadTransaction, of store: PersistentStore) -> any ReadTransaction {
        WatchedTransaction(transaction) { [logger, site] request, inner in
            logger.write(.trace, site, Self.text(request, inner))
        }
    }

    private static func text(_ request: WatchedTransaction.Request, _ inner: any ReadTransaction) -> String {
        switch request {
        case .record(let entity, let id): "read \(entity.name) \(id)"
        case .related(let relationship, let sources): "read relationship \(relationship.name) of \(sources) objects"
        case .scan(let request): plan(request, inner)
        case .count(let request): "count: \(plan(request.counting, inner))"
        case .search(let condition, _): "search \(condition)"
        case .aggregate(let request): "aggregate: \(plan(request.source, inner))"
        }
    }

    /// Returns the plan as one line of text. An invalid request has no plan; the caller receives its error.
    static func plan(_ request: FetchRequest, _ inner: any ReadTransaction) -> String {
        guard let plan = try? inner.plan(request) else { return "fetch \(request.entity.name)" }
        return plan.description.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "; ")
    }
}
