import PolyStoreBackend

/// How the record layer carries out a request.
struct RequestPlan {
    enum Path {
        case nothing
        case scan(ids: KeyRange?, isReversed: Bool)
        case ids([Int64])
        case search(IndexSearch)
        /// Ids that any of the searches finds.
        case union([Path])
    }

    var path: Path
    /// Still to be tested on each record.
    var predicate: QueryPredicate?
    /// The path gives the order that the request asks for.
    var isOrdered: Bool
    /// Index entries are walked over from the end.
    var isReversed = false
    /// Index entries hold all that is needed.
    var isCovering = false
    /// Of an entry not even the fields are needed, only the id.
    var needsIDsOnly = false
    /// Ids are collected and sorted before the records are read: for the order by id, and so that each object comes once.
    var collectsIDs = false

    /// The walk itself passes over what lies before the offset, without reading records, and ends at the limit: where each entry of an index is a row, and
    /// they come in the order that is asked for.
    var isSliced: Bool {
        guard case .search = path else { return false }
        return predicate == nil && isOrdered && !collectsIDs && !isCovering
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
