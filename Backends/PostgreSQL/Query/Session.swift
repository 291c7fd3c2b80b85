import PolyStoreBackend
import PolyStoreQuery

/// The reads common to both kinds of transaction: one use of a connection, from its beginning to its end.
final class Session: RelatedRecords {
    private var used: Connection
    let tables: StoreTables
    /// The beginning of the transaction, until its response has been read.
    private(set) var opening: (any Beginning)?
    /// The state that the transaction reads; nil until the response to its beginning has been read.
    private(set) var state: StoreState?
    /// The version that the transaction reads; nil until the response to its beginning has been read.
    var knownVersion: UInt64? { state?.version }
    /// The full-text indexes of the transaction, once they are needed.
    @exclusivity(unchecked) var searches: SessionSearches?
    // A transaction is used by one thread at a time, and no access lasts longer than a statement.
    @exclusivity(unchecked) private(set) var isEnded = false
    /// The error that ended the transaction on the server. Every later call throws it.
    @exclusivity(unchecked) private(set) var failure: StoreError?
    private let reader = RowReader()
    /// A Boolean value that indicates whether the transaction writes, so that a savepoint must not precede its changes.
    let isWriting: Bool
    /// The interruption of requests for many objects.
    @exclusivity(unchecked) var interruption: Interruption?
    /// The interruption of the current request.
    @exclusivity(unchecked) var interruptedBy: Interruption?
    /// A Boolean value that indicates whether the savepoint of an interruptible request exists.
    @exclusivity(unchecked) private var hasSavepoint = false
    /// A Boolean value that indicates whether the current request must begin with a savepoint.
    @exclusivity(unchecked) var needsSavepoint = false

    init(_ connection: Connection, _ tables: StoreTables, state: StoreState?, isWriting: Bool = false) {
        used = connection
        self.tables = tables
        self.state = state
        self.isWriting = isWriting
    }

    /// Creates a session whose first request is sent together with its beginning.
    init(_ opening: any Beginning, _ tables: StoreTables, isWriting: Bool = false) {
        used = opening.connection
        self.tables = tables
        self.opening = opening
        self.isWriting = isWriting
    }

    /// The connection. Use it within ``request(_:)`` only, unless the transaction has begun.
    var connection: Connection { opening?.connection ?? used }

    /// The version of the snapshot, which the response to the first request contains.
    var version: UInt64 {
        get throws {
            if let knownVersion { return knownVersion }
            try check()
            return try ending { try begun(opening?.complete()).version }
        }
    }

    /// Called when the response to the beginning has been read.
    private func begun(_ state: StoreState?) throws -> StoreState {
        guard let state else { throw StoreError(.closed, "The transaction has ended.", location: connection.location) }
        used = connection
        (opening, self.state) = (nil, state)
        return state
    }

    func end() { isEnded = true }

    /// Ends the session, and gives its connection to a closure when no other thread uses it.
    func end(_ completion: @escaping (Connection) -> Void) {
        end()
        if let opening { opening.end(completion) } else { completion(used) }
    }

    func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction has ended.", location: connection.location) }
        if let failure { throw failure }
        // A connection that the server had closed is replaced.
        if opening == nil { try connection.check() }
    }

    /// Sends a request and reads its response. The first one of a snapshot is sent together with its beginning.
    func request<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try check()
        return try ending { try first { try body(prepared($0)) } }
    }

    /// Sends a request, the first one together with the beginning of the transaction. An error does not end the transaction.
    func first<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        guard let opening else { return try body(connection) }
        let answer = Result { try opening.first(body) }
        try noteBeginning()
        return try answer.get()
    }

    /// Takes the state from the response to the beginning, if it has been read.
    func noteBeginning() throws { if case .success(let state)? = opening?.outcome { _ = try begun(state) } }

    /// Runs a closure whose error ends the transaction on the server.
    func ending<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as StoreError {
            // An interrupted request returns to its savepoint.
            if failure == nil, !connection.isCancelled { failure = error }
            throw error
        }
    }

    /// Prepares a connection for a statement of the current request. An interruptible request begins with a savepoint, to which the transaction returns.
    private func prepared(_ connection: Connection) -> Connection {
        connection.interruption = interruptedBy
        if interruptedBy != nil, opening != nil || needsSavepoint && (isWriting || !hasSavepoint) {
            connection.prefix =
                (hasSavepoint && isWriting && opening == nil ? [.once("RELEASE SAVEPOINT polystore_request")] : [])
                + [.once("SAVEPOINT polystore_request")]
            (hasSavepoint, needsSavepoint) = (true, false)
        }
        return connection
    }

    /// Executes a statement and returns its rows.
    func rows(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
        try request { try $0.rows(sql, parameters) }
    }

    /// Executes a statement and returns its rows one by one.
    /// - Parameters: See ``Connection/stream(_:isWhole:rowsAtOnce:)``.
    func stream(_ statement: Statement, isWhole: Bool = false, rowsAtOnce: Int32 = 1) throws -> RowStream {
        let stream = try request { try $0.stream(statement, isWhole: isWhole, rowsAtOnce: rowsAtOnce) }
        stream.hasSavepoint = interruptedBy != nil
        return stream
    }

    // MARK: Records

    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        let table = try tables.table(entity)
        let found = try rows(table.recordSQL, [.integer(rowID)])
        guard found.count > 0 else { return nil }
        return try reader.read(found, 0, table, fields: nil)
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try check()
        guard let request = Self.received(request) else {
            var scan = try scan(request.unsorted)
            scan.residual = Scan.Residual(predicate: scan.residual.predicate, sort: true, slice: true)
            return scan
        }
        let query = try QueryCompiler(tables).compile(request)
        try setIndexes(request, isOn: false)
        let stream = try stream(query.statement, isWhole: query.isShort, rowsAtOnce: query.rowsAtOnce)
        try setIndexes(request, isOn: true)
        return Scan(try PostgreSQLCursor(self, stream, query), residual: query.residualRequest)
    }

    /// Returns a request whose sort keys are fields, also of JSON in an index; nil if the shared executor must sort by another expression.
    static func received(_ request: FetchRequest) -> FetchRequest? {
        guard request.hasComputedKeys else { return request }
        guard let ordered = request.orderedByIndexedJSON else { return nil }
        let isRead = ordered.sortKeys.allSatisfy { key in
            request.entity.indexedJSON(at: key.field.index).map { JSONFunction.reads($0.json) } ?? true
        }
        return isRead ? ordered : nil
    }

    /// Switches the use of indexes off or on, for a request that is answered without them.
    func setIndexes(_ request: FetchRequest, isOn: Bool) throws {
        guard request.ignoresIndexes else { return }
        let value = isOn ? "DEFAULT" : "off"
        try self.request { connection in
            _ = try connection.run(["indexscan", "indexonlyscan", "bitmapscan"].map { .once("SET LOCAL enable_\($0) TO \(value)") })
        }
    }

    /// Counts the rows of a request.
    /// - Returns: nil if the server cannot evaluate the whole condition.
    func count(_ request: FetchRequest) throws -> Int? {
        try check()
        try request.validate()
        if request.limit == 0 { return 0 }
        var request = request
        (request.sortKeys, request.onlyIDs) = ([], true)
        let query = try QueryCompiler(tables).compile(request, counting: true)
        guard query.residual == nil else { return nil }
        try setIndexes(request, isOn: false)
        let found = try rows(query.statement.sql, query.statement.parameters)
        try setIndexes(request, isOn: true)
        guard let count = found.integer(0, 0) else {
            throw StoreError(.corrupt, "\(connection.location) did not return a number of rows.", location: connection.location)
        }
        return Int(count)
    }

    // MARK: Named values and the change log

    func value(named name: String) throws -> [UInt8]? {
        try check()
        try NamedValue.check(name: name)
        let found = try rows("SELECT value FROM \(tables.own("values")) WHERE name = $1", [.text(name)])
        return found.count == 0 ? nil : [UInt8](found.bytes(0, 0))
    }

    func valueNames(prefix: String) throws -> [String] {
        let found = try rows("SELECT name FROM \(tables.own("values")) WHERE starts_with(name, $1) ORDER BY name", [.text(prefix)])
        return try (0..<found.count).map { row in
            guard let text = found.text(row, 0), let name = NULFreeText.decode(text) else {
                throw StoreError(
                    .corrupt, "The name of a value in polystore_values of \(connection.location) cannot be read.",
                    location: connection.location)
            }
            return name
        }
    }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try check()
        guard limit > 0 else { return [] }
        let found = try rows(
            "SELECT position, version, entry FROM \(tables.own("log")) WHERE position > $1 ORDER BY position LIMIT $2",
            [.integer(position), .integer(Int64(limit))])
        return try (0..<found.count).map { row in
            guard let position = found.integer(row, 0), position > 0, let version = found.integer(row, 1) else {
                throw StoreError(
                    .corrupt, "An entry of polystore_log in \(connection.location) cannot be read.", location: connection.location)
            }
            return LogEntry(position: position, version: UInt64(bitPattern: version), bytes: [UInt8](found.bytes(row, 2)))
        }
    }

    func logBounds() throws -> LogBounds {
        let found = try rows(
            "SELECT (SELECT \"lastLogEntry\" FROM \(tables.own("state"))), (SELECT min(position) FROM \(tables.own("log")))")
        guard let last = found.integer(0, 0), last >= 0 else {
            throw StoreError(.corrupt, "polystore_state of \(connection.location) has no row.", location: connection.location)
        }
        guard let first = found.integer(0, 1) else { return LogBounds(removedThrough: last, last: last) }
        guard first > 0, first <= last else {
            throw StoreError(
                .corrupt, "The positions in polystore_log of \(connection.location) do not agree with polystore_state.",
                location: connection.location)
        }
        return LogBounds(removedThrough: first - 1, last: last)
    }
}
