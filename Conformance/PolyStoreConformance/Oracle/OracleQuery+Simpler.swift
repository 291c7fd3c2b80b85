import PolyStoreBackend

extension OracleQuery {
    /// The same question with something left out, one thing at a time; the greatest first.
    var simpler: [OracleQuery] {
        switch self {
        case .fetch(let request): Self.simpler(request).map(OracleQuery.fetch)
        case .explain(let request): [.fetch(request)] + Self.simpler(request).map(OracleQuery.explain)
        case .count(let request): [.fetch(request)] + Self.simpler(request).map(OracleQuery.count)
        case .interleaved(let requests): requests.map(OracleQuery.fetch) + Self.simpler(requests)
        case .aggregate(let request): Self.simpler(request).map(OracleQuery.aggregate)
        case .related(let relationship, let sources): sources.count > 1 ? sources.map { .related(relationship, [$0]) } : []
        case .record: []
        }
    }

    private static func simpler(_ requests: [FetchRequest]) -> [OracleQuery] {
        requests.indices.flatMap { index in
            simpler(requests[index]).map { request in
                var changed = requests
                changed[index] = request
                return .interleaved(changed)
            }
        }
    }

    private static func simpler(_ request: FetchRequest) -> [FetchRequest] {
        var found: [FetchRequest] = []
        func with(_ change: (inout FetchRequest) -> Void) {
            var copy = request
            change(&copy)
            if copy != request { found.append(copy) }
        }
        for predicate in simpler(request.predicate) { with { $0.predicate = predicate } }
        with { $0.sortKeys = [] }
        if request.sortKeys.count > 1 { for index in request.sortKeys.indices { with { $0.sortKeys.remove(at: index) } } }
        with { $0.limit = nil }
        with { $0.offset = 0 }
        with { $0.onlyIDs = false }
        with { $0.fields = nil }
        return found
    }

    private static func simpler(_ request: AggregateRequest) -> [AggregateRequest] {
        var found: [AggregateRequest] = []
        func with(_ change: (inout AggregateRequest) -> Void) {
            var copy = request
            change(&copy)
            found.append(copy)
        }
        for predicate in simpler(request.predicate) { with { $0.predicate = predicate } }
        for index in request.groupBy.indices { with { $0.groupBy.remove(at: index) } }
        if request.aggregates.count > 1 { for index in request.aggregates.indices { with { $0.aggregates.remove(at: index) } } }
        return found
    }

    /// Everything; each part alone; and without each part.
    private static func simpler(_ predicate: QueryPredicate) -> [QueryPredicate] {
        let inner: [QueryPredicate]
        switch predicate.node {
        case .constant: return []
        case .and(let parts): inner = parts + simpler(parts, QueryPredicate.and)
        case .or(let parts): inner = parts + simpler(parts, QueryPredicate.or)
        case .not(let part): inner = [part] + simpler(part).map(QueryPredicate.not)
        case .oneOf(let field, let values) where values.count > 1:
            let middle = values.count / 2
            inner = [.oneOf(field, Array(values[..<middle])), .oneOf(field, Array(values[middle...]))]
        default: inner = []
        }
        return [.all] + inner
    }

    private static func simpler(_ parts: [QueryPredicate], _ join: ([QueryPredicate]) -> QueryPredicate) -> [QueryPredicate] {
        parts.indices.flatMap { index in
            simpler(parts[index]).dropFirst().map { part in
                var changed = parts
                changed[index] = part
                return join(changed)
            }
        }
    }
}
