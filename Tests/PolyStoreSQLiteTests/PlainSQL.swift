import CSQLite
import Foundation
import PolyStoreBackend
import Testing

@testable import PolyStoreSQLite

/// A connection to the file like that of any other program.
final class PlainSQL {
    private var handle: OpaquePointer?

    init(_ file: String) throws {
        let code = sqlite3_open(file, &handle)
        try #require(code == SQLITE_OK)
        sqlite3_busy_timeout(handle, 5000)
    }

    deinit { sqlite3_close(handle) }

    /// Returns every row, with its columns as text joined by a bar.
    @discardableResult
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        try #require(code == SQLITE_OK, "\(String(cString: sqlite3_errmsg(handle)))")
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows.append(
                    (0..<sqlite3_column_count(statement)).map { sqlite3_column_text(statement, $0).map { String(cString: $0) } ?? "NULL" }
                        .joined(separator: "|"))
            case SQLITE_DONE: return rows
            default:
                Issue.record("\(String(cString: sqlite3_errmsg(handle)))")
                return rows
            }
        }
    }
}
