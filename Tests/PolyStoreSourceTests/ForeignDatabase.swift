import CSQLite
import Foundation
import Testing

/// A database that is written with SQLite alone.
final class ForeignDatabase {
    private let handle: OpaquePointer

    init(_ path: String, _ statements: [String] = []) throws {
        var opened: OpaquePointer?
        try #require(sqlite3_open(path, &opened) == SQLITE_OK)
        handle = try #require(opened)
        if !statements.isEmpty { try execute(["BEGIN"] + statements + ["COMMIT"]) }
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ statements: [String]) throws {
        for statement in statements {
            let code = sqlite3_exec(handle, statement, nil, nil, nil)
            try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle))) in \(statement)")
        }
    }

    /// Executes a statement that is permitted to fail.
    func attempt(_ statement: String) { sqlite3_exec(handle, statement, nil, nil, nil) }

    struct Locked: Error {}

    /// Writes a copy to a path without a file.
    func copy(to path: String) throws {
        guard sqlite3_exec(handle, "VACUUM INTO '\(path)'", nil, nil, nil) == SQLITE_OK else {
            try? FileManager.default.removeItem(atPath: path)
            throw Locked()
        }
    }

    /// Returns the rows of a query as texts in which values of different storage classes differ.
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        try #require(
            sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle))) in \(sql)")
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(statement)).map { String(cString: sqlite3_column_text(statement, $0)) }.joined(separator: "|"))
        }
        return rows
    }

    var tables: [String] {
        get throws { try rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name") }
    }

    /// The rows of all tables, with the storage class of each value, sorted.
    func contents() throws -> [String: [String]] {
        try tables.reduce(into: [:]) { contents, table in
            let name = table.replacing("'", with: "''")
            let columns = try rows("SELECT replace(name, '\"', '\"\"') FROM pragma_table_xinfo('\(name)') WHERE hidden <> 1").map {
                "quote(\"\($0)\")"
            }
            contents[table] = try rows("SELECT \(columns.joined(separator: ", ")) FROM \"\(table.replacing("\"", with: "\"\""))\"").sorted()
        }
    }

    /// The statements that the database was made with, sorted.
    func declarations() throws -> [String] {
        try rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY sql")
    }
}
