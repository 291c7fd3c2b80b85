import PolyStoreBackend
import PolyStoreQuery

extension Session {
    /// Returns the plan that PostgreSQL has for a request whatever its constants are. For the constants of a request it can choose another one.
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try check()
        try request.validate()
        guard request.hasComputedKeys else { return try plan(valid: request) }
        return try plan(valid: request.unsorted).sorted(for: request)
    }

    private func plan(valid request: FetchRequest) throws -> QueryPlan {
        let query = try QueryCompiler(tables).compile(request)
        let statement = query.statement
        let (lines, root) = try ending {
            let name = try connection.prepare(statement.sql, statement.parameters.map(\.oid))
            let arguments = statement.parameters.isEmpty ? "" : "(" + statement.parameters.map { _ in "NULL" }.joined(separator: ", ") + ")"
            try setIndexes(request, isOn: false)
            defer { try? setIndexes(request, isOn: true) }
            let results = try connection.run([
                .once("SET LOCAL plan_cache_mode = force_generic_plan"), .once("EXPLAIN (COSTS OFF) EXECUTE \(name)\(arguments)"),
                .once("EXPLAIN (COSTS OFF, FORMAT JSON) EXECUTE \(name)\(arguments)"), .once("SET LOCAL plan_cache_mode TO DEFAULT"),
            ])
            let lines = (0..<results[1].count).compactMap { results[1].text($0, 0) }
            return (lines, results[2].text(0, 0).flatMap { PlanNode.decode($0) })
        }
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
        if request.hasComputedKeys { return try transaction.explainedBySorting(request) }
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
        plan.rowsExamined = max(nodes.filter { $0.alias == "t1" }.reduce(0) { $0 + $1.examined }, count)
        if request.needsRelated {
            plan.relatedRowsExamined = related.count + nodes.filter { $0.alias != nil && $0.alias != "t1" }.reduce(0) { $0 + $1.examined }
        }
        return plan
    }

    /// Returns the access paths to the rows of the table.
    private static func accesses(_ root: PlanNode?, _ table: EntityTable) -> [QueryPlan.Access] {
        guard let root else { return [QueryPlan.Access(.scan)] }
        var found: [QueryPlan.Access] = []
        for node in root.all where node.alias == "t1" {
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
        if node.indexName == table.keyName {
            return node.condition == nil
                ? QueryPlan.Access(.scan, isReversed: isReversed)
                : QueryPlan.Access(.primaryKey, condition: node.condition, isReversed: isReversed)
        }
        return QueryPlan.Access(
            node.condition == nil ? .index : .search, index: node.indexName, condition: node.condition, isCovering: isCovering,
            isReversed: isReversed)
    }
}
