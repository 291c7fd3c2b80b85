import CSQLite
import PolyStoreBackend
import PolyStoreQuery

/// The reads common to both kinds of transaction: one use of a connection, from its beginning to its end.
final class Session: RelatedRecords {
    let connection: Connection
    let tables: StoreTables
    let version: UInt64
    private let isWritten: Bool
    /// The full-text indexes of the store; nil if it has none.
    @exclusivity(unchecked) private(set) var search: SearchIndexSet?
    /// Set once, by the thread of the transaction. Cursors check it before they access the connection, which another transaction may use afterwards.
    // Each access is a single load or store.
    @exclusivity(unchecked) private(set) var isEnded = false

    init(_ connection: Connection, version: UInt64, isWritten: Bool = false) {
        self.connection = connection
        tables = connection.tables
        self.version = version
        self.isWritten = isWritten
        beginSearching()
    }

    /// Forgets what was read of the full-text indexes, after the transaction has begun again.
    func beginSearching() {
        let indexes = connection.searchIndexes
        let storage = SQLiteSearchStorage(connection: connection, isWritten: isWritten)
        search = indexes.isEmpty ? nil : SearchIndexSet(indexes, storage, location: connection.path)
    }

    /// Returns the statements of cursors and ends the use of the connection.
    func end() {
        guard !isEnded else { return }
        if connection.process.isCurrent {
            connection.checkInAll()
            connection.interruption = nil
        }
        isEnded = true
    }

    @inline(__always)
    func check() throws {
        if isEnded { throw ended }
        try connection.process.check(connection.path)
    }

    private var ended: StoreError {
        @inline(never) get { StoreError(.closed, "The transaction has ended.", location: connection.path) }
    }

    var interruption: Interruption? {
        get { connection.interruption }
        set { if !isEnded { connection.interruption = newValue } }
    }

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        try check()
        return try connection.uninterrupted { try stored(entity, rowID) }
    }

    private func stored(_ entity: Entity, _ rowID: Int64) throws -> RecordView? {
        let table = try tables.table(entity)
        let statement: Statement
        if let kept = connection.records[entity.index] {
            statement = kept
        } else {
            statement = try connection.prepare(table.recordSQL)
            connection.records[entity.index] = statement
        }
        defer { statement.reset() }
        sqlite3_bind_int64(statement.handle, 1, rowID)
        let code = sqlite3_step(statement.handle)
        if code == SQLITE_ROW { return try connection.reader.read(statement.handle, table) }
        guard code == SQLITE_DONE else { throw connection.error(code, "Reading \(entity.name)") }
        return nil
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try check()
        try interruption?.check()
        if request.hasComputedKeys {
            if let ordered = orderedInSQL(request) { return try scan(ordered) }
            var scan = try scan(request.unsorted)
            scan.residual = Scan.Residual(predicate: scan.residual.predicate, sort: true, slice: true)
            return scan
        }
        if let queries = try listQueries(request) { return Scan(try mergedCursor(queries, request), residual: .nothing) }
        let query = try compile(request)
        return Scan(try cursor(query), residual: query.residualRequest)
    }

    /// Returns a request whose computed sort keys SQL evaluates, which are components of indexes; `nil` if there are others. Unsigned integers are others.
    func orderedInSQL(_ request: FetchRequest) -> FetchRequest? {
        guard !request.sortKeys.contains(where: { $0.expression?.type == .uint64 }) else { return nil }
        return request.orderedByIndexedJSON
    }

    private func cursor(_ query: CompiledQuery) throws -> SQLiteCursor {
        let statement = try statement(for: query)
        do { return try SQLiteCursor(self, statement, query) } catch {
            connection.checkIn(statement)
            throw error
        }
    }

    /// Returns a cursor that merges the rows of several queries, which are in the order of the request.
    func mergedCursor(_ queries: [CompiledQuery], _ request: FetchRequest) throws -> MergedCursor {
        // Cursors close their statements when they are released.
        MergedCursor(try queries.map { try cursor($0) }, request)
    }

    func count(_ request: FetchRequest) throws -> Int {
        try check()
        try interruption?.check()
        try request.validate()
        let query = try compile(request, counting: true)
        guard query.residual == nil else { return try countMatches(request) }
        return try count(query)
    }

    /// Executes a query that returns a number of rows.
    func count(_ query: CompiledQuery) throws -> Int {
        let statement = try statement(for: query)
        defer { connection.checkIn(statement) }
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW else { throw connection.error(code, "Counting \(query.table.entity.name)") }
        return Int(sqlite3_column_int64(statement.handle, 0))
    }

    /// Returns a statement of the query, from the cache or newly prepared, with the query's values bound.
    private func statement(for query: CompiledQuery) throws -> Statement {
        let statement = try connection.checkOut(query.shape) { query.sql(tables) }
        do { try connection.bind(query, to: statement) } catch {
            connection.checkIn(statement)
            throw error
        }
        return statement
    }

    /// Counts the rows of a request with a residual predicate.
    private func countMatches(_ request: FetchRequest) throws -> Int {
        let scan = try scan(request)
        defer { scan.cursor.close() }
        let evaluator = scan.residual.predicate.map { PredicateEvaluator($0, self) }
        var count = 0
        let limit = request.limit.map { $0.addingReportingOverflow(request.offset) }
        let most = limit.map { $0.overflow ? Int.max : $0.partialValue } ?? .max
        while count < most, try scan.cursor.next() {
            if try evaluator?.matches(id: scan.cursor.rowID, scan.cursor.record) ?? true { count += 1 }
        }
        return max(0, count - request.offset)
    }
}
