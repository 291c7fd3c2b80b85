import PolyStoreBackend
import PolyStoreQuery

extension Session {
    /// Returns the plan that PostgreSQL has for a request with its constants. A statement that is executed repeatedly can get one that suits all constants.
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try check()
        try request.validate()
        if let request = Self.received(request) { return try plan(valid: request) }
        return try plan(valid: request.unsorted).sorted(for: request)
    }

    private func plan(valid request: FetchRequest) throws -> QueryPlan {
        let query = try QueryCompiler(tables).compile(request)
        let statement = query.statement
        try setIndexes(request, isOn: false)
        let results = try self.request { connection in
            try connection.run(["", ", FORMAT JSON"].map { Statement("EXPLAIN (COSTS OFF\($0)) \(statement.sql)", statement.parameters) })
        }
        try setIndexes(request, isOn: true)
        // The plan is that for these constants, which its text must not show.
        let lines = results.first.map { rows in (0..<rows.count).compactMap { rows.text($0, 0).map(PlanNode.withoutConstants) } } ?? []
        let root = results.last?.text(0, 0).flatMap { PlanNode.decode($0) }
        var pushed: [String] = []
        if !query.evaluated.isEmpty { pushed.append("filter \(QueryPredicate.and(query.evaluated))") }
        pushed.append("order by \((request.sortKeys.map(\.field.name) + ["objectID"]).joined(separator: ", "))")
        if query.residual == nil {
            if let limit = request.limit { pushed.append("limit \(limit)") }
            if request.offset > 0 { pushed.append("offset \(request.offset)") }
        }
        return QueryPlan(
            entity: request.entity.name, accesses: Self.accesses(root, query.table), pushedDown: pushed,
            residual: query.residualRequest.described(for: request), engine: [statement.sql] + lines)
    }

    /// Executes a request and returns its plan with the numbers of rows. The rows that the server examines are those of `EXPLAIN ANALYZE`, which executes the request once more.
    /// - Parameter transaction: The transaction of this session.
    func explain(_ request: FetchRequest, in transaction: any ReadTransaction) throws -> QueryPlan {
        var plan = try plan(request)
        if request.limit == 0 {
            (plan.rowsExamined, plan.rowsReturned) = (0, 0)
            if request.needsRelated { plan.relatedRowsExamined = 0 }
            return plan
        }
        guard let request = Self.received(request) else { return try transaction.explainedBySorting(request) }
        let query = try QueryCompiler(tables).compile(request)
        try setIndexes(request, isOn: false)
        let found = try rows(
            "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) \(query.statement.sql)", query.statement.parameters)
        try setIndexes(request, isOn: true)
        let nodes = found.text(0, 0).flatMap { PlanNode.decode($0) }?.all ?? []
        let related = CountedRelatedRecords(self)
        let cursor = try transaction.scan(request).cursor
        defer { cursor.close() }
        let evaluator = query.residual.map { PredicateEvaluator($0, related) }
        let most =
            query.residual == nil
            ? Int.max : request.limit.map { $0.addingReportingOverflow(request.offset) }.map { $0.overflow ? .max : $0.0 } ?? .max
        var count = 0
        while count < most, try cursor.next() {
            if try evaluator?.matches(id: cursor.rowID, cursor.record) ?? true { count += 1 }
        }
        plan.rowsReturned = query.residual == nil ? count : max(0, count - request.offset)
        // The nodes of the table itself; those of related tables have other aliases.
        plan.rowsExamined = max(nodes.filter(\.readsTable).reduce(0) { $0 + $1.examined }, count)
        if request.needsRelated {
            plan.relatedRowsExamined = related.count + nodes.filter { $0.alias != nil && !$0.readsTable }.reduce(0) { $0 + $1.examined }
        }
        return plan
    }

    /// Returns the access paths to the rows of the table.
    private static func accesses(_ root: PlanNode?, _ table: EntityTable) -> [QueryPlan.Access] {
        guard let root else { return [QueryPlan.Access(.scan)] }
        var found: [QueryPlan.Access] = []
        for node in root.all where node.readsTable {
            for access in accesses(node, table) where !found.contains(access) { found.append(access) }
        }
        return found.isEmpty ? [QueryPlan.Access(.nothing)] : found
    }

    private static func accesses(_ node: PlanNode, _ table: EntityTable) -> [QueryPlan.Access] {
        switch node.type {
        case "Index Scan", "Index Only Scan":
            return [access(node, table, isCovering: node.type == "Index Only Scan")]
        case "Bitmap Heap Scan":
            // The indexes are below, and below the nodes that combine them.
            return (node.children ?? []).flatMap(\.all).filter { $0.type == "Bitmap Index Scan" }.map {
                access($0, table, isCovering: false)
            }
        default: return [QueryPlan.Access(.scan)]
        }
    }

    private static func access(_ node: PlanNode, _ table: EntityTable, isCovering: Bool) -> QueryPlan.Access {
        let isReversed = node.direction == "Backward"
        let condition = node.condition.map(PlanNode.withoutConstants)
        if node.indexName == table.keyName {
            return node.condition == nil
                ? QueryPlan.Access(.scan, isReversed: isReversed)
                : QueryPlan.Access(.primaryKey, condition: condition, isReversed: isReversed)
        }
        return QueryPlan.Access(
            node.condition == nil ? .index : .search, index: node.indexName, condition: condition, isCovering: isCovering,
            isReversed: isReversed)
    }
}
