import PolyStoreBackend
import PolyStoreSearch

extension ReadTransaction {
    /// Returns the statistics of a full-text search, by the index or by reading the records.
    public func statistics(of condition: SearchCondition) throws -> SearchStatistics {
        if let statistics = condition.statistics { return statistics }
        if let statistics = try searchStatistics(condition) { return statistics }
        let matcher = SearchMatcher(condition.search, condition.index.options)
        var statistics = SearchStatistics(of: condition.search)
        var fields = FieldMask()
        for field in condition.index.fields { fields.insert(field) }
        let cursor = try fetch(FetchRequest(condition.entity, fields: fields))
        defer { cursor.close() }
        while try cursor.next() {
            guard let texts = condition.index.texts(of: cursor.record) else { continue }
            statistics.add(matcher.frequencies(texts))
        }
        return statistics
    }

    /// Returns a request whose scores have the statistics of this transaction, for records that are evaluated outside of it.
    public func scored(_ request: FetchRequest) throws -> FetchRequest {
        guard request.searches else { return request }
        var known: [SearchCondition: SearchStatistics] = [:]
        return try request.replacingSearches({ .search($0) }, scores: { .score(try with(&known, $0)) })
    }

    /// Returns an expression whose scores have the statistics of this transaction.
    package func scored(_ expression: QueryExpression) throws -> QueryExpression {
        guard expression.searches else { return expression }
        var known: [SearchCondition: SearchStatistics] = [:]
        return try expression.replacingSearches({ .search($0) }, scores: { .score(try with(&known, $0)) })
    }

    private func with(_ known: inout [SearchCondition: SearchStatistics], _ condition: SearchCondition) throws -> SearchCondition {
        var scored = condition
        scored.statistics = try known[condition] ?? statistics(of: condition)
        known[condition] = scored.statistics
        return scored
    }

    /// Returns a request in which the full-text searches are replaced by the ids of the objects that the indexes find, and what the searches cost.
    ///
    /// Searches without an index stay: the evaluator searches the texts of the records.
    package func searched(_ request: FetchRequest) throws -> (request: FetchRequest, costs: SearchCosts) {
        guard request.searches else { return (request, SearchCosts()) }
        let request = try scored(request)
        if request.ignoresIndexes { return (request, SearchCosts()) }
        if let best = try best(request) { return best }
        var costs = SearchCosts()
        var found: [SearchCondition: QueryPredicate] = [:]
        let scored = conjunctsWithScores(request)
        var scores: [SearchCondition: SearchScores] = [:]
        let searched = try request.replacingSearches(
            { condition in
                if let known = found[condition] { return known }
                let statistics = scored[condition]
                guard let hits = try search(SearchRequest(condition, scoredBy: statistics)) else { return .search(condition) }
                costs += hits.costs
                if statistics != nil { scores[condition] = SearchScores(hits) }
                let predicate = QueryPredicate.oneOf(.objectID, hits.documents.map { .integer($0) })
                found[condition] = predicate
                return predicate
            }, scores: { .score($0) })
        if scores.isEmpty { return (searched, costs) }
        return (searched.replacingSearches({ .search($0) }, scores: { .score($0.with(scores)) }), costs)
    }

    /// The searches that every row of a request satisfies and whose scores it orders by, with the statistics of these.
    private func conjunctsWithScores(_ request: FetchRequest) -> [SearchCondition: SearchStatistics] {
        var found: [SearchCondition: SearchStatistics] = [:]
        for case .search(let condition) in request.predicate.conjuncts.map(\.node) {
            for case .score(let scored)? in request.sortKeys.map(\.expression?.node) where scored.isSame(as: condition) {
                found[condition] = scored.statistics
            }
        }
        return found
    }

    /// Returns the request for the best documents of a search; nil if a request is for anything else.
    private func best(_ request: FetchRequest) throws -> (request: FetchRequest, costs: SearchCosts)? {
        guard case .search(let condition) = request.predicate.node, let limit = request.limit, let key = request.sortKeys.first,
            request.sortKeys.count == 1, !key.ascending, case .score(let scored)? = key.expression?.node,
            let statistics = scored.statistics, scored.isSame(as: condition)
        else { return nil }
        let (wanted, overflow) = limit.addingReportingOverflow(request.offset)
        guard !overflow, (1...SearchRequest.mostBest).contains(wanted),
            let hits = try search(SearchRequest(condition, scoredBy: statistics, limit: wanted))
        else { return nil }
        var best = request
        best.predicate = .oneOf(.objectID, hits.documents.map { .integer($0) })
        let scores = SearchScores(hits)
        best.sortKeys[0] = SortKey(.score(scored.with([condition: scores])), ascending: false, nulls: key.nulls)
        return (best, hits.costs)
    }

    /// Returns the number of rows of a request; its full-text searches are executed by their indexes.
    public func counted(_ request: FetchRequest) throws -> Int {
        guard request.searches else { return try count(request) }
        try request.validate()
        if request.limit == 0 { return 0 }
        return try count(try searched(request).request)
    }
}

extension SearchRequest {
    /// The maximum number of documents that an index orders. The hits of a request for more are sorted as other rows are.
    fileprivate static let mostBest = 65_536
}

extension SearchCondition {
    /// Returns whether another condition searches for the same by the same index.
    fileprivate func isSame(as other: SearchCondition) -> Bool {
        entity == other.entity && index == other.index && search == other.search
    }

    /// Returns the condition with the scores that the index gave for the same search, if it gave some.
    fileprivate func with(_ scores: [SearchCondition: SearchScores]) -> SearchCondition {
        guard let own = scores.first(where: { $0.key.isSame(as: self) })?.value else { return self }
        var copy = self
        copy.scores = own
        return copy
    }
}
