import CSQLite
import Foundation
import PolyStoreBackend

/// A connection to a database that this library did not write. One thread at a time uses it.
final class TableConnection {
    private let handle: OpaquePointer
    let path: String

    /// Opens a database for reading, or a new one for writing.
    /// - Throws: `io` if the file does not exist, or if it exists and would be a new one; `notAStore` for a file that is not a database of SQLite.
    init(_ path: String, creating isNew: Bool = false) throws {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if !isNew, !exists || isFolder.boolValue { throw StoreError(.io, "There is no database file at \(path).", location: path) }
        if isNew, exists { throw StoreError(.io, "\(path) exists. Name another file, or delete this one first.", location: path) }
        var opened: OpaquePointer?
        let flags =
            (isNew ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = Self.error(code, "be opened", path, opened)
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        self.path = path
        sqlite3_busy_timeout(opened, 10_000)
        // Its texts may be those of a stranger.
        sqlite3_limit(opened, SQLITE_LIMIT_ATTACHED, 0)
        try execute("PRAGMA trusted_schema = OFF")
    }

    deinit { sqlite3_close_v2(handle) }

    static func error(_ code: Int32, _ what: String, _ path: String, _ handle: OpaquePointer?) -> StoreError {
        let text = String(cString: handle.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code))
        if let collation = missingCollation(text) {
            return StoreError(
                .unsupported,
                "\(path) cannot \(what): it uses the collating sequence \(collation), which only the program that wrote it has. Let that program write a copy with another collating sequence.",
                location: path, engineCode: Int(code), underlying: text)
        }
        let (kind, advice): (StoreError.Code, String) =
            switch handle.map({ sqlite3_system_errno($0) }) == ENOSPC ? SQLITE_FULL : code & 0xff {
            case SQLITE_NOTADB: (.notAStore, "It is not a database of SQLite, or it is encrypted.")
            case SQLITE_CORRUPT: (.corrupt, "Check it with PRAGMA integrity_check, or restore it from a backup.")
            case SQLITE_BUSY, SQLITE_LOCKED: (.busy, "Another program has it locked. Try again later.")
            case SQLITE_FULL: (.full, "Free disk space, and try again.")
            case SQLITE_CANTOPEN:
                (
                    .io,
                    "Check the permissions of the file and its folder: a database with a write-ahead log needs a writable folder, and a new one space on the disk. A copy of the file can be read."
                )
            default: (.io, "Check the file, its permissions, and those of its folder.")
            }
        return StoreError(kind, "\(path) cannot \(what): \(text). \(advice)", location: path, engineCode: Int(code), underlying: text)
    }

    private static func missingCollation(_ text: String) -> Substring? {
        let start = "no such collation sequence: "
        return text.hasPrefix(start) ? text.dropFirst(start.count) : nil
    }

    func fail(_ code: Int32, _ what: String) -> StoreError { Self.error(code, what, path, handle) }

    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw fail(code, "execute \(sql.prefix(200))") }
    }

    /// Executes one statement that creates something, which another program wrote.
    /// - Throws: `corrupt` for any other text.
    func executeDeclaration(_ sql: String) throws {
        func refuse() -> StoreError {
            StoreError(
                .corrupt,
                "The schema of the database contains a text that is not one statement of the form CREATE …, and is not executed: \(sql.prefix(200))",
                location: path)
        }
        guard foldedName(String(sql.prefix(7))) == Array("create ".utf8), !sql.utf8.contains(0) else { throw refuse() }
        var statement: OpaquePointer?
        var isWhole = false
        let code = sql.withCString { start in
            var end: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(handle, start, -1, 0, &statement, &end)
            isWhole = end?.pointee == 0
            return code
        }
        guard code == SQLITE_OK else { throw fail(code, "execute \(sql.prefix(200))") }
        guard let statement else { throw refuse() }
        let prepared = TableStatement(statement, self)
        guard isWhole else { throw refuse() }
        try prepared.run([])
    }

    func prepare(_ sql: String) throws -> TableStatement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, 0, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw fail(code, "execute \(sql.prefix(200))") }
        return TableStatement(statement, self)
    }

    /// Calls a function with each row of a query.
    func rows(_ sql: String, _ values: [SQLiteValue] = [], _ body: (TableStatement) throws -> Void) throws {
        let statement = try prepare(sql)
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Returns all rows of a query with few rows.
    func rows(_ sql: String, _ values: [SQLiteValue] = []) throws -> [[SQLiteValue]] {
        var all: [[SQLiteValue]] = []
        try rows(sql, values) { all.append($0.row) }
        return all
    }

    /// Reads one version of the database.
    func reading<R>(_ body: () throws -> R) throws -> R {
        try execute("BEGIN")
        // Nothing was written, so its end cannot lose anything.
        defer { try? execute("ROLLBACK") }
        return try body()
    }
}

/// A prepared statement of a ``TableConnection``.
final class TableStatement {
    private let handle: OpaquePointer
    private let connection: TableConnection

    init(_ handle: OpaquePointer, _ connection: TableConnection) {
        self.handle = handle
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Returns whether there is a row.
    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.fail(code, "be read")
        }
    }

    /// Executes a statement without rows again with other values.
    func run(_ values: [SQLiteValue]) throws {
        sqlite3_reset(handle)
        try bind(values)
        let code = sqlite3_step(handle)
        if code != SQLITE_DONE { throw connection.fail(code, "be written") }
    }

    func bind(_ values: [SQLiteValue]) throws {
        for (index, value) in values.enumerated() {
            let code = bind(Int32(index + 1), value)
            if code != SQLITE_OK { throw connection.fail(code, "be used with the value \(value.description.prefix(100))") }
        }
    }

    private func bind(_ index: Int32, _ value: SQLiteValue) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, index)
        case .integer(let value): return sqlite3_bind_int64(handle, index, value)
        case .real(let value): return sqlite3_bind_double(handle, index, value)
        case .text(let text): return bindText(index, Array(text.utf8))
        case .malformedText(let bytes): return bindText(index, bytes)
        case .blob(let bytes):
            if bytes.isEmpty { return sqlite3_bind_zeroblob(handle, index, 0) }
            return sqlite3_bind_blob64(handle, index, bytes, UInt64(bytes.count), polystore_sqlite_transient())
        }
    }

    private func bindText(_ index: Int32, _ bytes: [UInt8]) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self), !bytes.isEmpty else {
                return sqlite3_bind_text(handle, index, "", 0, nil)
            }
            return sqlite3_bind_text64(handle, index, start, UInt64(bytes.count), polystore_sqlite_transient(), UInt8(SQLITE_UTF8))
        }
    }

    var row: [SQLiteValue] { (0..<sqlite3_column_count(handle)).map { self[$0] } }

    subscript(_ column: Int32) -> SQLiteValue {
        switch sqlite3_column_type(handle, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, column))
        case SQLITE_BLOB: return .blob(bytes(column))
        case SQLITE_TEXT:
            let bytes = bytes(column)
            return String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .malformedText(bytes)
        default: return .null
        }
    }

    private func bytes(_ column: Int32) -> [UInt8] {
        // Before its length, because it converts a text of UTF-16.
        let isText = sqlite3_column_type(handle, column) == SQLITE_TEXT
        let start = isText ? sqlite3_column_text(handle, column).map { UnsafeRawPointer($0) } : sqlite3_column_blob(handle, column)
        return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))))
    }
}
