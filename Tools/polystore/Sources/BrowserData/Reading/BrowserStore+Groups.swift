import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Returns groups of objects with functions of each.
    /// - Throws: ``FilterMistake`` for a mistake in the filter, `invalidPredicate` for groups, functions, an order or a condition on groups that the entity does not have, and the errors of
    ///   the store.
    package func groups(_ request: GroupsRequest, timeLimit: Duration? = BrowserStore.defaultTimeLimit) async throws -> GroupTable {
        let (reader, plan) = try groupPlan(request)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in
                let (rows, cost) = try context.pane(wantsPlans: request.wantsCost) { try plan.read(reader, context) }
                return plan.table(rows, cost)
            }
        }
    }

    /// Returns the plan of a request, and the reader of its objects.
    func groupPlan(_ request: GroupsRequest) throws -> (reader: RowReader, plan: GroupPlan) {
        var rows = RowsRequest(request.entity)
        (rows.filter, rows.search, rows.searchIndex) = (request.filter, request.search, request.searchIndex)
        let reader = try RowReader(rows, self)
        return (reader, GroupPlan(request, reader.model, self))
    }
}
