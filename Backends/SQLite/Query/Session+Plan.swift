import CSQLite
import PolyStoreBackend
import PolyStoreQuery

extension Session {
    /// Returns the query plan that SQLite reports, in words.
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try check()
        try request.validate()
        guard request.hasComputedKeys else { return try plan(valid: request) }
        if let ordered = orderedInSQL(request) { return try plan(valid: ordered) }
        return try plan(valid: request.unsorted).sorted(for: request)
    }

    private func plan(valid request: FetchRequest) throws -> QueryPlan {
        let counting = request.isCount ? try compile(request, counting: true) : nil
        // A count with a residual predicate reads the rows.
        let isCounted = counting.map { $0.residual == nil } ?? false
        let lists = isCounted ? nil : try listQueries(request)
        let query = try isCounted ? counting ?? compile(request) : lists?.first ?? compile(request)
        let sql = query.sql(tables)
        let lines = try explain(sql)
        var pushed: [String] = []
        let residual = Set(query.residual?.conjuncts ?? [])
        let evaluated = request.predicate.conjuncts.filter { !residual.contains($0) }
        if !evaluated.isEmpty { pushed.append("filter \(QueryPredicate.and(evaluated))") }
        if let lists { pushed.append("merge \(lists.count) scans") }
        if isCounted { pushed.append("count") }
        if !isCounted { pushed.append("order by \((request.sortKeys.map(\.field.name) + ["objectID"]).joined(separator: ", "))") }
        if query.residual == nil {
            if let limit = request.limit { pushed.append("limit \(limit)") }
            if request.offset > 0 { pushed.append("offset \(request.offset)") }
        }
        return QueryPlan(
            entity: request.entity.name, accesses: Self.accesses(lines, query.table), pushedDown: pushed,
            residual: query.residualRequest.described(for: request), engine: [sql] + lines)
    }

    private func explain(_ sql: String) throws -> [String] {
        let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        defer { connection.finalize(statement) }
        var lines: [String] = []
        while true {
            switch sqlite3_step(statement.handle) {
            // The columns are id, parent, an unused one, and the description.
            case SQLITE_ROW: lines.append(String(decoding: statement.bytes(3), as: UTF8.self))
            case SQLITE_DONE: return lines
            case let code: throw connection.error(code, "Explaining a query")
            }
        }
    }

    /// Executes the request with terms that count the examined rows.
    /// - Parameter transaction: The transaction of this session.
    func explain(_ request: FetchRequest, in transaction: any ReadTransaction) throws -> QueryPlan {
        var plan = try plan(request)
        let ordered = request.hasComputedKeys ? orderedInSQL(request) : request
        if request.limit == 0 {
            (plan.rowsExamined, plan.rowsReturned) = (0, 0)
            if request.needsRelated { plan.relatedRowsExamined = 0 }
            return plan
        }
        guard let request = ordered else { return try transaction.explainedBySorting(request) }
        let counter = try connection.countingRows()
        counter.restart()
        if let lists = try listQueries(request, countsRows: true) {
            let cursor = try mergedCursor(lists, request)
            defer { cursor.close() }
            var count = 0
            while try cursor.next() { count += 1 }
            (plan.rowsExamined, plan.rowsReturned) = (counter.count, count)
            return plan
        }
        let query = try compile(request, countsRows: true)
        let statement = try connection.prepare(query.sql(tables))
        defer { connection.finalize(statement) }
        try connection.bind(query, to: statement)
        let related = CountedRelatedRecords(self)
        let evaluator = query.residual.map { PredicateEvaluator($0, related) }
        let reader = RowReader()
        var found = 0
        let most =
            query.residual == nil
            ? Int.max : request.limit.map { $0.addingReportingOverflow(request.offset) }.map { $0.overflow ? .max : $0.0 } ?? .max
        while found < most {
            let code = sqlite3_step(statement.handle)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw connection.error(code, "Explaining a query") }
            if let evaluator {
                let record =
                    try query.selectedFields.map { try reader.read(statement.handle, query.table, only: $0) }
                    ?? reader.read(statement.handle, query.table)
                if try !evaluator.matches(id: sqlite3_column_int64(statement.handle, 0), record) { continue }
            }
            found += 1
        }
        plan.rowsExamined = counter.count
        plan.rowsReturned = query.residual == nil ? found : max(0, found - request.offset)
        if request.needsRelated { plan.relatedRowsExamined = counter.relatedCount + related.count }
        return plan
    }

    /// Returns the access paths; an OR that uses an index for each part has several.
    private static func accesses(_ lines: [String], _ table: EntityTable) -> [QueryPlan.Access] {
        // If the ids come from a subquery on the same table, the subquery is the access path, and the records are read by id.
        if let list = lines.firstIndex(where: { $0.hasPrefix("LIST SUBQUERY") }) {
            var inner: [QueryPlan.Access] = []
            for line in lines[list...] {
                guard var path = access(line, table) else { continue }
                path.isCovering = false
                if !inner.contains(path) { inner.append(path) }
            }
            if !inner.isEmpty { return inner }
        }
        var paths: [QueryPlan.Access] = []
        for line in lines {
            if let path = access(line, table), !paths.contains(path) { paths.append(path) }
        }
        return paths.isEmpty ? [QueryPlan.Access(.scan)] : paths
    }

    /// Returns the condition of an index with names in place of `<expr>`, which SQLite writes for each component that is not a column.
    private static func named(_ condition: String, _ index: EntityTable.Index, _ table: EntityTable) -> String {
        guard condition.contains("<expr>") else { return condition }
        var position = -1
        var isRange = false
        return condition.split(separator: " AND ").map { term in
            // Both bounds of a range are on the same component.
            if !isRange { position += 1 }
            isRange = !term.hasSuffix("=?") || term.hasSuffix(">=?") || term.hasSuffix("<=?")
            guard index.components.indices.contains(position), let indexed = table.entity.indexedJSON(at: index.components[position]) else {
                return String(term)
            }
            return String(term).replacing("<expr>", with: indexed.field.name)
        }.joined(separator: " AND ")
    }

    private static func access(_ line: String, _ table: EntityTable) -> QueryPlan.Access? {
        let plain = table.entity.name
        let isSearch = line.hasPrefix("SEARCH \(plain)")
        guard isSearch || line.hasPrefix("SCAN \(plain)") else { return nil }
        let detail = line.dropFirst((isSearch ? "SEARCH " : "SCAN ").count + plain.count)
        /// Returns the text in parentheses at the end.
        func condition(_ words: Substring) -> String? {
            guard let open = words.firstIndex(of: "("), words.last == ")" else { return nil }
            return String(words[words.index(after: open)...].dropLast()).replacing("rowid", with: "objectID")
        }
        let key = " USING INTEGER PRIMARY KEY"
        if detail.hasPrefix(key) { return QueryPlan.Access(.primaryKey, condition: condition(detail.dropFirst(key.count))) }
        for (words, isCovering) in [(" USING COVERING INDEX ", true), (" USING INDEX ", false)] where detail.hasPrefix(words) {
            let name = detail.dropFirst(words.count)
            // The longest matching name, because one name may be a prefix of another.
            let index = table.indexes.filter { name.hasPrefix($0.plainName) }.max { $0.plainName.utf8.count < $1.plainName.utf8.count }
            guard let index else { continue }
            return QueryPlan.Access(
                isSearch ? .search : .index, index: index.plainName,
                condition: condition(name.dropFirst(index.plainName.count)).map { named($0, index, table) },
                isCovering: isCovering)
        }
        return QueryPlan.Access(.scan)
    }
}
