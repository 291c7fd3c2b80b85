import PolyStoreBackend
import PolyStoreSearch

extension QueryPlan {
    /// Returns the plan of a request that sorts by expressions, from the plan of its ``FetchRequest/unsorted`` form. Sorting and slicing are residual.
    public func sorted(for request: FetchRequest) -> QueryPlan {
        var plan = self
        plan.residual += Scan.Residual(sort: true, slice: true).described(for: request)
        plan.rowsReturned = rowsReturned.map { min(max(0, $0 - request.offset), request.limit ?? .max) }
        return plan
    }
}

extension QueryPlan {
    /// Names full-text searches by indexes, whose rows the plan has as ids.
    mutating func describe(_ searches: [SearchCondition], _ costs: SearchCosts) {
        search = costs
        if !searches.isEmpty, accesses.allSatisfy({ $0.path == .primaryKey || $0.path == .nothing }) {
            accesses = searches.map { Access(.text, index: $0.index.plainName, condition: "\($0)") }
        }
        pushedDown.insert(contentsOf: searches.map(\.description), at: 0)
    }
}

extension ReadTransaction {
    /// Executes a request and returns its plan with costs. Supports orders that backends do not receive.
    public func explained(_ request: FetchRequest) throws -> QueryPlan {
        guard request.searches else { return try explainedWithoutSearches(request) }
        try request.validate()
        let (searched, costs) = try searched(request)
        var plan = try explainedWithoutSearches(searched)
        if costs.terms > 0 {
            let remaining = Set(searched.predicate.searchConditions)
            let searches = request.predicate.searchConditions.filter { !remaining.contains($0) }
            plan.describe(searches, costs)
        }
        return plan
    }

    private func explainedWithoutSearches(_ request: FetchRequest) throws -> QueryPlan {
        guard request.hasComputedKeys, !receivesOrder(of: request) else { return try explain(request) }
        return try explainedBySorting(request)
    }

    /// Executes a request whose sort keys the shared executor computes, and returns its plan with costs.
    package func explainedBySorting(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        var plan = try explain(request.unsorted)
        plan.residual += Scan.Residual(sort: true, slice: true).described(for: request)
        let all = plan.rowsReturned ?? 0
        plan.rowsReturned = max(0, min(request.limit ?? .max, all - request.offset))
        if request.needsRelated {
            plan.relatedRowsExamined = (plan.relatedRowsExamined ?? 0) + (try relatedRowsExamined(bySorting: request))
        }
        return plan
    }

    /// Computes the sort keys of a request for all rows that satisfy its predicate, and returns the number of rows of related objects that were examined.
    private func relatedRowsExamined(bySorting request: FetchRequest) throws -> Int {
        let keys = request.sortKeys.filter { $0.expression?.needsRelated ?? false }
        if keys.isEmpty || request.limit == 0 { return 0 }
        let related = CountedRelatedRecords(self)
        let values = SortValues(keys, related)
        let cursor = try fetch(request.unsorted)
        defer { cursor.close() }
        while try cursor.next() { _ = try values.values(cursor.rowID, cursor.record) }
        return related.count
    }

    /// Returns the plan of a request. The default implementation is based on the residual that `scan` returns.
    public func plan(_ request: FetchRequest) throws -> QueryPlan {
        try request.validate()
        if request.hasComputedKeys { return try plan(request.unsorted).sorted(for: request) }
        let scan = try scan(request)
        scan.cursor.close()
        return QueryPlan(
            entity: request.entity.name, accesses: [QueryPlan.Access(.scan)], residual: scan.residual.described(for: request))
    }

    /// Executes a request and returns its plan with the row counts.
    public func explain(_ request: FetchRequest) throws -> QueryPlan {
        var plan = try plan(request)
        let related = CountedRelatedRecords(self)
        let cursor = try fetch(request, related)
        defer { cursor.close() }
        var returned = 0
        while try cursor.next() { returned += 1 }
        plan.rowsExamined = cursor.rowsExamined
        plan.rowsReturned = returned
        if request.needsRelated { plan.relatedRowsExamined = related.count }
        return plan
    }
}

extension QueryPredicate {
    /// The different full-text searches at any depth, in order.
    fileprivate var searchConditions: [SearchCondition] {
        var found: [SearchCondition] = []
        _ = replacingSearches(
            { condition in
                if !found.contains(condition) { found.append(condition) }
                return .search(condition)
            }, scores: { .score($0) })
        return found
    }
}
