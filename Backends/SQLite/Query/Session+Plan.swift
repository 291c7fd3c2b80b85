import CSQLite
import PolyStoreBackend

extension Session {
    /// What SQLite says it would do, in words.
    func plan(_ request: FetchRequest) throws -> QueryPlan {
        try check()
        try request.validate()
        let table = try tables.table(request.entity)
        let rest = try connection.compiler.compile(request, table, connection.nan)
        let sql = ShapeSQL.query(QueryShape(connection.compiler.words), table)
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
            entity: request.entity.name, access: Self.access(lines, table), pushedDown: pushed,
            remainder: remainder.described(for: request),
            engine: [sql] + lines)
    }

    private func explain(_ sql: String) throws -> [String] {
        let statement = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
        defer { connection.finalize(statement) }
        var lines: [String] = []
        while true {
            switch sqlite3_step(statement.handle) {
            // id, parent, an unused column, the words
            case SQLITE_ROW: lines.append(String(decoding: statement.bytes(3), as: UTF8.self))
            case SQLITE_DONE: return lines
            case let code: throw connection.error(code, "Explaining a query")
            }
        }
    }

    /// Several ways, for an OR that uses an index for each part, are joined.
    private static func access(_ lines: [String], _ table: EntityTable) -> String {
        var ways: [String] = []
        for line in lines {
            if let way = access(line, table), !ways.contains(way) { ways.append(way) }
        }
        return ways.isEmpty ? "scan" : ways.joined(separator: " or ")
    }

    private static func access(_ line: String, _ table: EntityTable) -> String? {
        let plain = table.entity.name
        let isSearch = line.hasPrefix("SEARCH \(plain)")
        guard isSearch || line.hasPrefix("SCAN \(plain)") else { return nil }
        let rest = line.dropFirst((isSearch ? "SEARCH " : "SCAN ").count + plain.count)
        if rest.hasPrefix(" USING INTEGER PRIMARY KEY") { return "primary key" }
        for words in [" USING COVERING INDEX ", " USING INDEX "] where rest.hasPrefix(words) {
            let name = rest.dropFirst(words.count)
            // The longest name that fits: one may be the beginning of another.
            let index = table.indexes.filter { name.hasPrefix($0.plainName) }.max { $0.plainName.utf8.count < $1.plainName.utf8.count }
            guard let index else { continue }
            let used = name.dropFirst(index.plainName.count)
            return "index \(index.plainName)" + (isSearch ? "\(used)" : " (order)")
        }
        return "scan"
    }
}
