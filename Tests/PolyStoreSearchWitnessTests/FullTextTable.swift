import CSQLite
import Testing

/// A table of SQLite's FTS5 in memory.
final class FullTextTable {
    private var handle: OpaquePointer?
    private let fields: [String]

    init(_ fields: [String]) throws {
        self.fields = fields
        try #require(sqlite3_open(":memory:", &handle) == SQLITE_OK)
        try execute("CREATE VIRTUAL TABLE texts USING fts5(\(fields.joined(separator: ", ")), tokenize = 'unicode61')", [])
    }

    deinit { sqlite3_close(handle) }

    func insert(_ id: Int64, _ texts: [String]) throws {
        let names = fields.joined(separator: ", ")
        try execute("INSERT INTO texts(rowid, \(names)) VALUES (\(id), \(fields.map { _ in "?" }.joined(separator: ", ")))", texts)
    }

    func update(_ id: Int64, _ texts: [String]) throws {
        try execute("UPDATE texts SET \(fields.map { "\($0) = ?" }.joined(separator: ", ")) WHERE rowid = \(id)", texts)
    }

    func delete(_ id: Int64) throws { try execute("DELETE FROM texts WHERE rowid = \(id)", []) }

    /// Returns the ids of the rows that match a query, with their scores; a greater score is better.
    func found(_ query: String, weights: [Double]) throws -> [Int64: Double] {
        var found: [Int64: Double] = [:]
        let rank = "bm25(texts, \(weights.map { "\($0)" }.joined(separator: ", ")))"
        try execute("SELECT rowid, \(rank) FROM texts WHERE texts MATCH ?", [query]) { statement in
            found[sqlite3_column_int64(statement, 0)] = -sqlite3_column_double(statement, 1)
        }
        return found
    }

    private func execute(_ sql: String, _ texts: [String], _ row: (OpaquePointer?) -> Void = { _ in }) throws {
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(sql): \(message)")
        defer { sqlite3_finalize(statement) }
        // SQLite copies a text whose destructor is −1.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        for (index, text) in texts.enumerated() { sqlite3_bind_text(statement, Int32(index + 1), text, -1, copies) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            row(statement)
            code = sqlite3_step(statement)
        }
        try #require(code == SQLITE_DONE, "\(sql) \(texts): \(message)")
    }

    private var message: String { String(cString: sqlite3_errmsg(handle)) }
}
