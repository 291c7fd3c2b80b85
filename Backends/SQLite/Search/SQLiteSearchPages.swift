import CSQLite
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearchIndex

/// The pages of a full-text index: the rows of a table.
final class SQLiteSearchPages: SearchPageWriter {
    private let connection: Connection
    private let table: String

    init(_ number: UInt32, _ connection: Connection) {
        self.connection = connection
        table = SearchTables.pages(number)
    }

    func pages(atOrAfter keys: [[UInt8]]) throws -> [SearchPage?] {
        let statement = try connection.kept("SELECT k, v FROM \(table) WHERE k >= ? ORDER BY k LIMIT 1")
        defer { statement.reset() }
        return try keys.map { key in
            statement.reset()
            try bind(statement, [key])
            return try row(statement) ? page(statement) : nil
        }
    }

    func pages(at keys: [[UInt8]]) throws -> [[UInt8]?] {
        let statement = try connection.kept("SELECT v FROM \(table) WHERE k = ?")
        defer { statement.reset() }
        return try keys.map { key in
            statement.reset()
            try bind(statement, [key])
            return try row(statement) ? [UInt8](statement.bytes(0)) : nil
        }
    }

    func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) throws -> [SearchPage] {
        let statement = try connection.kept("SELECT k, v FROM \(table) WHERE k >= ? AND k < ? ORDER BY k LIMIT ?")
        defer { statement.reset() }
        try bind(statement, [lower, upper])
        sqlite3_bind_int64(statement.handle, 3, Int64(limit))
        var found: [SearchPage] = []
        while try row(statement) { found.append(page(statement)) }
        return found
    }

    func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
        if !keys.isEmpty {
            let statement = try connection.kept("DELETE FROM \(table) WHERE k = ?")
            for key in keys { try run(statement, [key]) }
        }
        let statement = try connection.kept("INSERT OR REPLACE INTO \(table) (k, v) VALUES (?, ?)")
        for page in pages { try run(statement, [page.key, page.bytes]) }
    }

    func remove(from lower: [UInt8], below upper: [UInt8]) throws {
        try run(try connection.kept("DELETE FROM \(table) WHERE k >= ? AND k < ?"), [lower, upper])
    }

    /// Removes pages of the index.
    /// - Returns: Whether none remain.
    func removeAll(limit: Int) throws -> Bool {
        let sql = "DELETE FROM \(table) WHERE k IN (SELECT k FROM \(table) LIMIT \(limit))"
        try connection.run(try connection.kept(sql), "Emptying a full-text index")
        return sqlite3_changes(connection.handle) < limit
    }

    private func page(_ statement: Statement) -> SearchPage {
        SearchPage(key: [UInt8](statement.bytes(0)), bytes: [UInt8](statement.bytes(1)))
    }

    private func run(_ statement: Statement, _ values: [[UInt8]]) throws {
        try bind(statement, values)
        try connection.run(statement, "Writing a full-text index")
    }

    private func bind(_ statement: Statement, _ values: [[UInt8]]) throws {
        for (position, value) in values.enumerated() {
            let code = statement.bind(Int32(position + 1), .blob(value))
            guard code == SQLITE_OK else { throw connection.error(code, "Using a full-text index") }
        }
    }

    private func row(_ statement: Statement) throws -> Bool {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.error(code, "Reading a full-text index") }
        return code == SQLITE_ROW
    }
}

/// The full-text indexes of a store, in a transaction of a connection.
struct SQLiteSearchStorage: SearchIndexStorage {
    let connection: Connection
    let isWritten: Bool

    func state(of index: StoredSearchIndex) throws -> SearchIndexState { try SearchTables(connection: connection).state(index.number) }
    var schema: ResolvedSchema { connection.tables.schema }
    func pages(of index: StoredSearchIndex) -> any SearchPageReader { SQLiteSearchPages(index.number, connection) }
    func writablePages(of index: StoredSearchIndex) -> (any SearchPageWriter)? {
        isWritten ? SQLiteSearchPages(index.number, connection) : nil
    }
}
