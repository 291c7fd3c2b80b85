import PolyStoreBackend
import PolyStoreSearch

extension ReadTransaction {
    /// Returns the statistics of a full-text search, by the index or by reading the records.
    public func statistics(of condition: SearchCondition) throws -> SearchStatistics {
        if let statistics = condition.statistics { return statistics }
        if let statistics = try searchStatistics(condition) { return statistics }
        let matcher = SearchMatcher(condition.search, condition.index.options)
        var statistics = SearchStatistics(documents: 0, tokens: 0, frequencies: condition.search.phrases.map { _ in 0 })
        var fields = FieldMask()
        for field in condition.index.fields { fields.insert(field) }
        let cursor = try fetch(FetchRequest(condition.entity, fields: fields))
        defer { cursor.close() }
        while try cursor.next() {
            guard let texts = condition.index.texts(of: cursor.record) else { continue }
            let (contains, length) = matcher.frequencies(texts)
            statistics.documents += 1
            statistics.tokens += length
            for (phrase, found) in contains.enumerated() where found { statistics.frequencies[phrase] += 1 }
        }
        return statistics
    }

    /// Returns a request whose scores have the statistics of this transaction, for records that are evaluated outside of it.
    public func scored(_ request: FetchRequest) throws -> FetchRequest {
        guard request.searches else { return request }
        var known: [SearchCondition: SearchStatistics] = [:]
        return try request.replacingSearches({ .search($0) }, scores: { .score(try with(&known, $0)) })
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
        guard request.searches, !request.ignoresIndexes else { return (request, SearchCosts()) }
        let request = try scored(request)
        if let best = try best(request) { return best }
        var costs = SearchCosts()
        var found: [SearchCondition: QueryPredicate] = [:]
        let searched = try request.replacingSearches(
            { condition in
                if let known = found[condition] { return known }
                guard let hits = try search(SearchRequest(condition)) else { return .search(condition) }
                costs += hits.costs
                let predicate = QueryPredicate.oneOf(.objectID, hits.documents.map { .integer($0) })
                found[condition] = predicate
                return predicate
            }, scores: { .score($0) })
        return (searched, costs)
    }

    /// Returns the request for the best documents of a search, if that is all that a request asks for.
    private func best(_ request: FetchRequest) throws -> (request: FetchRequest, costs: SearchCosts)? {
        guard case .search(let condition) = request.predicate.node, let limit = request.limit, let key = request.sortKeys.first,
            request.sortKeys.count == 1, !key.ascending, case .score(let scored)? = key.expression?.node,
            let statistics = scored.statistics, scored.search == condition.search, scored.index == condition.index
        else { return nil }
        let (wanted, overflow) = limit.addingReportingOverflow(request.offset)
        guard !overflow, let hits = try search(SearchRequest(condition, scoredBy: statistics, limit: wanted)) else { return nil }
        var best = request
        best.predicate = .oneOf(.objectID, hits.documents.map { .integer($0) })
        return (best, hits.costs)
    }

    /// Returns the number of rows of a request; its full-text searches are executed by their indexes.
    public func counted(_ request: FetchRequest) throws -> Int {
        guard request.searches else { return try count(request) }
        try request.validate()
        return try count(try searched(request).request)
    }
}
