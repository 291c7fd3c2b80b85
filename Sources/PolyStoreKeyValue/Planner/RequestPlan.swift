import PolyStoreBackend

/// The plan with which the record layer executes a request.
struct RequestPlan {
    enum Path {
        case nothing
        case scan(ids: KeyRange?, isReversed: Bool)
        case ids([Int64])
        case search(IndexSearch)
        /// The union of the row ids of several paths.
        case union([Path])
    }

    var path: Path
    /// The residual predicate, which is evaluated for each record.
    var residual: QueryPredicate?
    /// A Boolean value that indicates whether the path provides the requested order.
    var isOrdered: Bool
    /// A Boolean value that indicates whether index entries are scanned backwards.
    var isReversed = false
    /// A Boolean value that indicates whether index entries contain all needed values (a covering index).
    var isCovering = false
    /// A Boolean value that indicates whether only the row ids of entries are needed.
    var needsIDsOnly = false
    /// A Boolean value that indicates whether row ids are collected and sorted before records are read, for the order by row id and to remove duplicates.
    var collectsIDs = false

    /// The number of leading sort keys whose order the path provides; rows with equal keys are sorted as they are read. 0 if it provides none.
    var orderedKeys = 0
    /// A Boolean value that indicates whether the ranges of the search are in the requested order and are merged.
    var merges = false

    /// A Boolean value that indicates whether the cursor skips rows before the offset without reading records and stops at the limit. This requires that each
    /// index entry is a row and that entries are in the requested order.
    var isSliced: Bool {
        guard case .search = path else { return false }
        return residual == nil && isOrdered && !collectsIDs && !isCovering && orderedKeys == 0
    }
}

extension RequestPlan.Path {
    func accesses(of plan: RequestPlan) -> [QueryPlan.Access] {
        switch self {
        case .nothing: return [QueryPlan.Access(.nothing)]
        case .scan(nil, let isReversed): return [QueryPlan.Access(.scan, isReversed: isReversed)]
        case .scan(_, let isReversed): return [QueryPlan.Access(.primaryKey, condition: "range of objectID", isReversed: isReversed)]
        case .ids: return [QueryPlan.Access(.primaryKey, condition: "objectID=?")]
        case .search(let search):
            return [
                QueryPlan.Access(
                    search.isSearch ? .search : .index, index: search.index.index.name,
                    condition: search.conditions.isEmpty ? nil : search.conditions.joined(separator: " AND "),
                    isCovering: plan.isCovering, isReversed: plan.isReversed)
            ]
        case .union(let paths):
            var accesses: [QueryPlan.Access] = []
            for access in paths.flatMap({ $0.accesses(of: plan) }) where !accesses.contains(access) { accesses.append(access) }
            return accesses
        }
    }
}
