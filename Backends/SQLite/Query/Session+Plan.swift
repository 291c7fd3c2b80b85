import CSQLite
import PolyStoreBackend
import PolyStoreQuery

extension Session {
    /// Returns the query plan that SQLite reports, in words.
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try check()
        try request.validate()
        if request.hasComputedKeys { return try plan(request.unsorted).sorted(for: request) }
        let table = try tables.table(request.entity)
        let rest = try connection.compiler.compile(request, table, connection.nan)
        let sql = ShapeSQL.query(QueryShape(connection.compiler.words), table, tables)
        let lines = try explain(sql)
        var pushed: [String] = []
        let left = Set(rest?.conjuncts ?? [])
        let done = request.predicate.conjuncts.filter { !left.contains($0) }
        if !done.isEmpty { pushed.append("filter \(QueryPredicate.and(done))") }
        pushed.append("order by \((request.sortKeys.map(\.field.name) + ["objectID"]).joined(separator: ", "))")
        if rest == nil {
            if let limit = request.limit { pushed.append("limit \(limit)") }
            if request.offset > 0 { pushed.append("offset \(request.offset)") }
        }
        let remainder = rest.map { Scan.Remainder(predicate: $0, slice: true) } ?? .nothing
        return QueryPlan(
            entity: request.entity.name, accesses: Self.accesses(lines, table), pushedDown: pushed,
            remainder: remainder.described(for: request),
            engine: [sql] + lines)
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

    /// Executes the request with a term that counts the examined rows.
    func explain(_ request: FetchRequest) throws -> QueryPlan {
        var plan = try plan(request)
        if request.limit == 0 {
            (plan.rowsExamined, plan.rowsReturned) = (0, 0)
            return plan
        }
        if request.hasComputedKeys { return try explain(request.unsorted).sorted(for: request) }
        let table = try tables.table(request.entity)
        let counter = try connection.countingRows()
        counter.restart()
        let rest = try connection.compiler.compile(request, table, connection.nan, countsRows: true)
        let statement = try connection.prepare(ShapeSQL.query(QueryShape(connection.compiler.words), table, tables))
        defer { connection.finalize(statement) }
        for (index, value) in connection.compiler.bindings.enumerated() {
            let code = statement.bind(Int32(index + 1), value)
            if code != SQLITE_OK { throw connection.error(code, "Explaining a query") }
        }
        let selected = connection.compiler.selected
        let evaluator = rest.map { PredicateEvaluator($0, self) }
        let reader = RowReader()
        var found = 0
        let most =
            rest == nil
            ? Int.max : request.limit.map { $0.addingReportingOverflow(request.offset) }.map { $0.overflow ? .max : $0.0 } ?? .max
        while found < most {
            let code = sqlite3_step(statement.handle)
            if code == SQLITE_DONE { break }
            guard code == SQLITE_ROW else { throw connection.error(code, "Explaining a query") }
            if let evaluator {
                let record =
                    try selected.map { try reader.read(statement.handle, table, only: $0) }
                    ?? reader.read(statement.handle, table)
                if try !evaluator.matches(id: sqlite3_column_int64(statement.handle, 0), record) { continue }
            }
            found += 1
        }
        plan.rowsExamined = counter.count
        plan.rowsReturned = rest == nil ? found : max(0, found - request.offset)
        return plan
    }

    /// Returns the access paths; an OR that uses an index for each part has several.
    private static func accesses(_ lines: [String], _ table: EntityTable) -> [QueryPlan.Access] {
        // If the ids come from a subquery on the same table, the subquery is the access path, and the records are read by id.
        if let list = lines.firstIndex(where: { $0.hasPrefix("LIST SUBQUERY") }) {
            var inner: [QueryPlan.Access] = []
            for line in lines[list...] {
                guard var way = access(line, table) else { continue }
                way.isCovering = false
                if !inner.contains(way) { inner.append(way) }
            }
            if !inner.isEmpty { return inner }
        }
        var ways: [QueryPlan.Access] = []
        for line in lines {
            if let way = access(line, table), !ways.contains(way) { ways.append(way) }
        }
        return ways.isEmpty ? [QueryPlan.Access(.scan)] : ways
    }

    private static func access(_ line: String, _ table: EntityTable) -> QueryPlan.Access? {
        let plain = table.entity.name
        let isSearch = line.hasPrefix("SEARCH \(plain)")
        guard isSearch || line.hasPrefix("SCAN \(plain)") else { return nil }
        let rest = line.dropFirst((isSearch ? "SEARCH " : "SCAN ").count + plain.count)
        /// Returns the text in parentheses at the end.
        func condition(_ words: Substring) -> String? {
            guard let open = words.firstIndex(of: "("), words.last == ")" else { return nil }
            return String(words[words.index(after: open)...].dropLast()).replacing("rowid", with: "objectID")
        }
        let key = " USING INTEGER PRIMARY KEY"
        if rest.hasPrefix(key) { return QueryPlan.Access(.primaryKey, condition: condition(rest.dropFirst(key.count))) }
        for (words, isCovering) in [(" USING COVERING INDEX ", true), (" USING INDEX ", false)] where rest.hasPrefix(words) {
            let name = rest.dropFirst(words.count)
            // The longest matching name, because one name may be a prefix of another.
            let index = table.indexes.filter { name.hasPrefix($0.plainName) }.max { $0.plainName.utf8.count < $1.plainName.utf8.count }
            guard let index else { continue }
            return QueryPlan.Access(
                isSearch ? .search : .index, index: index.plainName, condition: condition(name.dropFirst(index.plainName.count)),
                isCovering: isCovering)
        }
        return QueryPlan.Access(.scan)
    }
}
