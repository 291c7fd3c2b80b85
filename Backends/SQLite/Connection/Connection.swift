import CSQLite
import PolyStoreBackend
import PolyStoreQuery

/// One connection to the file, with its statements. One thread at a time uses it; ``ConnectionPool`` decides which.
final class Connection {
    let handle: OpaquePointer
    let path: String
    /// Keeps the path of the file while the connection is open.
    private var file: OpenFile?
    let tables: StoreTables
    /// The columns whose values SQLite orders differently, in the current transaction.
    @exclusivity(unchecked) var misordered: MisorderedColumns
    /// The full-text indexes of the store, in the current transaction.
    @exclusivity(unchecked) var searchIndexes: [StoredSearchIndex] = []
    /// The number of statements prepared so far, for tests of the cache.
    private(set) var preparedCount = 0

    // Cached statements, by the index of the entity or link table. No access to these and the properties below lasts longer than a statement, and one thread at
    // a time uses the connection, so exclusivity checks are not needed.
    @exclusivity(unchecked) var records: [Statement?]
    @exclusivity(unchecked) var inserts: [Statement?]
    @exclusivity(unchecked) var deletes: [Statement?]
    @exclusivity(unchecked) var additions: [Statement?]
    @exclusivity(unchecked) var removals: [Statement?]
    // Checked: it prepares statements while it is modified.
    var updates: [UpdateCache]
    /// The statements that follow relationships, by entity and relationship.
    var related: [Int: Statement] = [:]
    /// Rarely used statements, by their SQL text.
    @exclusivity(unchecked) private var named: [String: Statement] = [:]
    /// Idle query statements, the most recently used last.
    @exclusivity(unchecked) private var idle: [Statement] = []
    @exclusivity(unchecked) private(set) var inUse: [Statement] = []
    /// The version after the last commit of this connection, with SQLite's data version then; `nil` if it is unknown. If the data version is the same in the next
    /// transaction, no other connection has committed, and the state need not be read again.
    @exclusivity(unchecked) private var lastCommit: (version: UInt64, dataVersion: UInt32)?
    @exclusivity(unchecked) private var stateUpdate: Statement?
    private let begin: Statement
    private let beginImmediate: Statement
    private let commitStatement: Statement
    private let rollbackStatement: Statement
    /// Compiles queries. Kept with the connection to reuse its working memory.
    var compiler: QueryCompiler
    /// Builds single records. Only the reading of single records uses it, and never recursively.
    @exclusivity(unchecked) var reader = RowReader()
    /// Created on first use and registered with SQLite until the connection is closed.
    var rowCounter: RowCounter?
    /// Checks the interruption of the current requests; nil if they have none.
    @exclusivity(unchecked) var interruptedRequests: InterruptedRequests?
    /// A Boolean value that indicates whether `synchronous` is FULL.
    @exclusivity(unchecked) private(set) var isFullySynchronous = true
    /// The process that opened the connection.
    let process = OwningProcess()
    /// The identity of the opened store; `nil` while it is being opened. See ``begin(writing:)``.
    @exclusivity(unchecked) var identity: SQLiteStoreIdentity?
    /// The number of times that SQLite had re-prepared the first statement of a transaction when the store's identity was last checked.
    @exclusivity(unchecked) private var preparesAtCheck: Int32 = -1
    /// The error of the latest checkpoint; see ``followLog()``.
    @exclusivity(unchecked) var checkpointFailure: StoreError?
    /// The page size of the file, and the size of the write-ahead log after the latest commit, both in bytes; see ``followLog()``.
    @exclusivity(unchecked) var pageSize = 0
    @exclusivity(unchecked) var logSize = 0
    /// The length of the log, in pages, at which the next checkpoint runs; `nil` means ``mostLogPages``.
    @exclusivity(unchecked) var nextCheckpoint: Int?
    /// A Boolean value that indicates whether a checkpoint could not copy all of a long log because a snapshot was reading it.
    @exclusivity(unchecked) var isLogStalled = false

    static let idleQueries = 64

    /// The access mode of a connection.
    enum Access: Sendable {
        case reading, writing
        /// Without locks and side files: for a read-only file in a folder that does not allow new files.
        case readingUnchangedFile
    }

    /// Opens the file, which must exist.
    init(file: OpenFile, tables: StoreTables, access: Access, busyTimeout: Duration) throws {
        let path = file.path
        var opened: OpaquePointer?
        var flags = (access == .writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = path
        if access == .readingUnchangedFile {
            flags |= SQLITE_OPEN_URI
            name = Self.uri(path, "immutable=1")
        }
        let code = sqlite3_open_v2(name, &opened, flags, ReportingFileSystem.name)
        guard code == SQLITE_OK, let opened else {
            let error = StoreError(sqlite: code, "Opening", path: path, connection: opened)
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        self.path = path
        self.file = file
        compiler = QueryCompiler(tables)
        self.tables = tables
        polystore_sqlite_harden(opened)
        sqlite3_busy_timeout(opened, Int32(clamping: busyTimeout.inMilliseconds))
        misordered = MisorderedColumns(tables)
        records = Array(repeating: nil, count: tables.entities.count)
        inserts = records
        deletes = records
        updates = Array(repeating: UpdateCache(), count: tables.entities.count)
        additions = Array(repeating: nil, count: tables.links.count)
        removals = additions
        do {
            var code = DatePartFunction.register(opened)
            if code == SQLITE_OK { code = JSONFieldFunction.register(opened) }
            if code != SQLITE_OK { throw StoreError(sqlite: code, "Opening", path: path, connection: opened) }
            begin = try Self.prepare("BEGIN", opened, path)
            beginImmediate = try Self.prepare("BEGIN IMMEDIATE", opened, path)
            commitStatement = try Self.prepare("COMMIT", opened, path)
            rollbackStatement = try Self.prepare("ROLLBACK", opened, path)
        } catch {
            Self.close(opened)
            throw error
        }
    }

    /// Returns the URI of a file with a parameter, such as `immutable=1`.
    static func uri(_ path: String, _ parameter: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16)
                uri += digits.count == 1 ? "%0" + digits : "%" + digits
            }
        }
        return uri + "?" + parameter
    }

    /// Sets the pragmas common to all uses.
    func configure(cacheKiB: Int, isReader: Bool) throws {
        try execute("PRAGMA cache_size = -\(max(cacheKiB, 64))")
        try execute("PRAGMA secure_delete = OFF")
        try execute("PRAGMA foreign_keys = OFF")
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA trusted_schema = OFF")
        try execute("PRAGMA journal_size_limit = 67108864")
        try execute("PRAGMA synchronous = FULL")
        if isReader { try execute("PRAGMA query_only = ON") } else { try followLog() }
    }

    /// Empties the file if it is one page of zeros.
    /// - Returns: Whether it was.
    /// - Throws: `busy` if another connection is using such a file, and the errors of the file system.
    func emptyFileOfZeros() throws -> Bool {
        var isEmptied: Int32 = 0
        let code = polystore_sqlite_empty_zeros(handle, &isEmptied)
        guard code == SQLITE_OK else { throw StoreError(sqlite: code, "Emptying a file of zeros", path: path) }
        return isEmptied != 0
    }

    /// Finalizes all statements and closes the connection, which must not be used afterwards.
    func close() {
        Self.close(handle)
        file = nil
    }

    private static func close(_ handle: OpaquePointer) {
        while let statement = sqlite3_next_stmt(handle, nil) { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Returns the last error of SQLite.
    func error(_ code: Int32, _ what: @autoclosure () -> String) -> StoreError {
        if code == SQLITE_INTERRUPT, let error = interruptedRequests?.error as? StoreError { return error }
        return StoreError(sqlite: code, what(), path: path, connection: handle)
    }

    /// The number of failed reads of the connection's files.
    var failedReads: Int { ReportingFileSystem.failedReads(of: handle) }

    /// - Throws: `io` if a read of the connection's files has failed since.
    func checkReads(since earlier: Int, _ what: @autoclosure () -> String) throws {
        guard failedReads == earlier else { throw error(polystore_sqlite_ioerr_read, what()) }
    }

    /// A Boolean value that indicates whether a transaction is open. SQLite ends it after some errors.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
}

// MARK: - Statements

extension Connection {
    private static func prepare(_ sql: String, _ handle: OpaquePointer, _ path: String, shape: QueryShape? = nil) throws
        -> Statement
    {
        var statement: OpaquePointer?
        var sql = sql
        let code = sql.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_prepare_v3(handle, $0.baseAddress, Int32(clamping: $0.count), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
            }
        }
        guard code == SQLITE_OK, let statement else {
            throw StoreError(sqlite: code, "Preparing a statement", path: path, connection: handle)
        }
        return Statement(statement, shape: shape)
    }

    func prepare(_ sql: String, shape: QueryShape? = nil) throws -> Statement {
        preparedCount += 1
        return try uninterrupted { try Self.prepare(sql, handle, path, shape: shape) }
    }

    func finalize(_ statement: Statement) { sqlite3_finalize(statement.handle) }

    /// Returns a statement that is cached by its text. For a small set of texts that do not depend on requests.
    func kept(_ sql: String) throws -> Statement {
        if let statement = named[sql] { return statement }
        let statement = try prepare(sql)
        named[sql] = statement
        return statement
    }

    /// Executes SQL without bindings and ignores the rows it returns.
    func execute(_ sql: String) throws {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, "Running a statement") }
    }

    /// Returns the first column of the first row as an integer.
    func integer(_ sql: String) throws -> Int64? {
        let statement = try prepare(sql)
        defer { finalize(statement) }
        switch sqlite3_step(statement.handle) {
        case SQLITE_ROW: return sqlite3_column_int64(statement.handle, 0)
        case SQLITE_DONE: return nil
        case let code: throw error(code, "Reading the store")
        }
    }

    /// Returns the first column of every row as text.
    func texts(_ sql: String) throws -> [String] {
        let statement = try prepare(sql)
        defer { finalize(statement) }
        var rows: [String] = []
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: rows.append(String(decoding: statement.bytes(0), as: UTF8.self))
            case SQLITE_DONE: return rows
            case let code: throw error(code, "Reading the store")
            }
        }
    }

    /// Returns a statement for a query, from the cache if a statement of the same shape is idle. Return it with ``checkIn(_:)``.
    func checkOut(_ shape: QueryShape, sql: () -> String) throws -> Statement {
        var index = idle.count - 1
        while index >= 0 {
            if idle[index].shape == shape {
                let statement = idle.remove(at: index)
                use(statement)
                return statement
            }
            index -= 1
        }
        let statement = try prepare(sql(), shape: shape)
        use(statement)
        return statement
    }

    /// Binds the values of a query to a statement of its shape.
    func bind(_ query: CompiledQuery, to statement: Statement) throws {
        let code = statement.bind(query.bindings)
        if code != SQLITE_OK { throw error(code, "Binding the values of a query of \(query.table.entity.name)") }
    }

    private func use(_ statement: Statement) {
        statement.useIndex = inUse.count
        inUse.append(statement)
    }

    func checkIn(_ statement: Statement) {
        let index = statement.useIndex
        guard index >= 0 else { return }
        statement.reset()
        let last = inUse.removeLast()
        if last !== statement {
            inUse[index] = last
            last.useIndex = index
        }
        statement.useIndex = -1
        if idle.count >= Self.idleQueries { finalize(idle.removeFirst()) }
        idle.append(statement)
    }

    /// Returns all statements that cursors still use, at the end of a transaction.
    func checkInAll() { while let statement = inUse.last { checkIn(statement) } }
}

// MARK: - Transactions

extension Connection {
    func run(_ statement: Statement, _ what: @autoclosure () -> String) throws {
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            // Before the reset, which could change the message.
            let error = error(code, what())
            statement.reset()
            throw error
        }
        statement.reset()
    }

    /// Begins a transaction and pins its snapshot.
    /// - Returns: the version of the snapshot.
    func begin(writing: Bool) throws -> UInt64 {
        try run(writing ? beginImmediate : begin, writing ? "Starting to write" : "Starting to read")
        // Unlike `BEGIN IMMEDIATE`, `BEGIN` does not read the file yet.
        if writing, let lastCommit, polystore_sqlite_data_version(handle) == lastCommit.dataVersion { return lastCommit.version }
        do { return try readState() } catch {
            rollback()
            throw error
        }
    }

    func commit() throws {
        interruption = nil
        lastCommit = nil
        checkInAll()
        try run(commitStatement, "Committing")
    }

    /// Stores a new version and commits.
    func commit(_ version: UInt64) throws {
        interruption = nil
        let statement = try stateUpdate ?? prepare("UPDATE polystore_state SET version = ?")
        stateUpdate = statement
        sqlite3_bind_int64(statement.handle, 1, Int64(bitPattern: version))
        try run(statement, "Committing")
        try commit()
        lastCommit = (version, polystore_sqlite_data_version(handle))
    }

    /// Rolls back the transaction, if there is one.
    func rollback() {
        interruption = nil
        // The transaction may have added columns to `misordered`.
        lastCommit = nil
        checkInAll()
        if isInTransaction { try? run(rollbackStatement, "Rolling back") }
    }

    private func readState() throws -> UInt64 {
        let statement = try kept("SELECT version, nan FROM polystore_state")
        defer { statement.reset() }
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW else {
            if code != SQLITE_DONE { throw error(code, "Reading the store's version") }
            throw StoreError(.corrupt, "The store \(path) has lost its version: polystore_state is empty.", location: path)
        }
        // A reset or a migration changes the tables, and SQLite then re-prepares the statement. The counter detects that at no cost.
        let prepares = sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_REPREPARE, 0)
        if prepares != preparesAtCheck {
            try checkIdentity()
            misordered.check(self)
            searchIndexes = try SearchTables(connection: self).indexes()
            preparesAtCheck = prepares
        }
        let version = sqlite3_column_int64(statement.handle, 0)
        guard sqlite3_column_type(statement.handle, 0) == SQLITE_INTEGER, version >= 0 else {
            throw StoreError(.corrupt, "The version of the store \(path) is not a count of commits.", location: path)
        }
        misordered.read(statement.bytes(1), tables)
        return UInt64(version)
    }

    /// Checks that the transaction reads the store that was opened, with a schema of the same data.
    /// - Throws: `differentStoreAtURL`.
    private func checkIdentity() throws {
        guard let identity else { return }
        let found = try texts("SELECT value FROM polystore_metadata WHERE key IN ('schemaHash', 'storeID') ORDER BY key")
        guard found.last == identity.storeID, let schemaHash = found.first else {
            throw StoreError(
                .differentStoreAtURL,
                "The store \(path) was reset after it was opened here, for another model or by another program. "
                    + "Close it and open it again.", location: path)
        }
        guard schemaHash != identity.schemaHash else { return }
        // Another process may have replaced only plain indexes.
        guard identity.schema.hasSameData(as: try MetadataTable(connection: self).read().schema) else {
            throw StoreError(
                .differentStoreAtURL,
                "The store \(path) was migrated to another schema since it was opened here. Close it and open it again for that schema.",
                location: path)
        }
        self.identity?.schemaHash = schemaHash
    }

    /// Sets whether commits wait for a flush. Call it outside a transaction, because SQLite rejects it inside one.
    func setFullySynchronous(_ isFull: Bool) throws {
        guard isFull != isFullySynchronous else { return }
        try execute(isFull ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        isFullySynchronous = isFull
    }
}
