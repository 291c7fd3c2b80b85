import CSQLite
import PolyStoreBackend
import PolyStoreQuery

/// The reads common to both kinds of transaction: one use of a connection, from its beginning to its end.
final class Session: RelatedRecords {
    let connection: Connection
    let tables: StoreTables
    let version: UInt64
    /// Set once, by the thread of the transaction. Cursors check it before they access the connection, which another transaction may use afterwards.
    // Each access is a single load or store.
    @exclusivity(unchecked) private(set) var isEnded = false

    init(_ connection: Connection, version: UInt64) {
        self.connection = connection
        tables = connection.tables
        self.version = version
    }

    /// Returns the statements of cursors and ends the use of the connection.
    func end() {
        guard !isEnded else { return }
        if connection.process.isCurrent { connection.checkInAll() }
        isEnded = true
    }

    func check() throws {
        if isEnded { throw StoreError(.closed, "The transaction has ended.", url: connection.path) }
        try connection.process.check(connection.path)
    }

    func record(_ entity: Entity, id: Int64) throws -> RecordView? {
        try check()
        let table = try tables.table(entity)
        let statement: Statement
        if let kept = connection.records[entity.index] {
            statement = kept
        } else {
            statement = try connection.prepare(table.recordSQL)
            connection.records[entity.index] = statement
        }
        defer { statement.reset() }
        sqlite3_bind_int64(statement.handle, 1, id)
        let code = sqlite3_step(statement.handle)
        if code == SQLITE_ROW { return try connection.reader.read(statement.handle, table) }
        guard code == SQLITE_DONE else { throw connection.error(code, "Reading \(entity.name)") }
        return nil
    }

    func scan(_ request: FetchRequest) throws -> Scan {
        try check()
        let table = try tables.table(request.entity)
        let rest = try connection.compiler.compile(request, table, connection.nan)
        let statement = try query(table)
        let cursor: SQLiteCursor
        do {
            cursor = try SQLiteCursor(
                self, statement, table, fields: connection.compiler.selected, onlyIDs: request.onlyIDs && rest == nil)
        } catch {
            connection.checkIn(statement)
            throw error
        }
        return Scan(cursor, remainder: rest.map { Scan.Remainder(predicate: $0, slice: true) } ?? .nothing)
    }

    func count(_ request: FetchRequest) throws -> Int {
        try check()
        try request.validate()
        let table = try tables.table(request.entity)
        guard try connection.compiler.compile(request, table, connection.nan, counting: true) == nil else { return try walk(request) }
        let statement = try query(table)
        defer { connection.checkIn(statement) }
        let code = sqlite3_step(statement.handle)
        guard code == SQLITE_ROW else { throw connection.error(code, "Counting \(request.entity.name)") }
        return Int(sqlite3_column_int64(statement.handle, 0))
    }

    /// Returns the statement of the compiled query, with its values bound.
    private func query(_ table: EntityTable) throws -> Statement {
        let shape = QueryShape(connection.compiler.words)
        let statement = try connection.checkOut(shape) { ShapeSQL.query(shape, table, tables) }
        var index: Int32 = 1
        for value in connection.compiler.bindings {
            let code = statement.bind(index, value)
            if code != SQLITE_OK {
                let error = connection.error(code, "Asking for \(table.entity.name)")
                connection.checkIn(statement)
                throw error
            }
            index += 1
        }
        return statement
    }

    /// Counts rows with a residual predicate.
    private func walk(_ request: FetchRequest) throws -> Int {
        let predicate = try scan(request)
        defer { predicate.cursor.close() }
        let evaluator = predicate.remainder.predicate.map { PredicateEvaluator($0, self) }
        var count = 0
        let limit = request.limit.map { $0.addingReportingOverflow(request.offset) }
        let most = limit.map { $0.overflow ? Int.max : $0.partialValue } ?? .max
        while count < most, try predicate.cursor.next() {
            if try evaluator?.matches(id: predicate.cursor.id, predicate.cursor.record) ?? true { count += 1 }
        }
        return max(0, count - request.offset)
    }
}
