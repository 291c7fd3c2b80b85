import CSQLite
import PolyStoreBackend

/// The write transaction of a store: the writing connection inside `BEGIN IMMEDIATE`.
final class SQLiteWriteTransaction: WriteTransaction, OrdersByIndexedJSON {
    let session: Session
    private let pool: ConnectionPool
    // A transaction is used by one thread at a time, and no access lasts longer than a statement.
    @exclusivity(unchecked) private var hasApplied = false
    /// The row ids that ``reserveIDs(_:count:)`` has reserved.
    @exclusivity(unchecked) private var reservations: [(table: EntityTable, count: Int)] = []
    /// The version that the commit gets instead of the next one; see ``RestoringTransaction``.
    @exclusivity(unchecked) var restoredVersion: UInt64?
    var connection: Connection { session.connection }

    init(_ pool: ConnectionPool) throws {
        let connection = try pool.borrowWriter()
        do {
            session = Session(connection, version: try pool.beginWriting(connection), isWritten: true)
            try pool.didBeginWriting()
        } catch {
            connection.rollback()
            pool.giveBackWriter()
            throw error
        }
        self.pool = pool
    }

    /// Takes over the transaction that a migration has begun on its own connection while it holds the writer.
    init(migrating connection: Connection, version: UInt64, _ pool: ConnectionPool) {
        session = Session(connection, version: version, isWritten: true)
        self.pool = pool
        // Every change set needs a savepoint, because undoing it must not undo the migration.
        hasApplied = true
    }

    deinit { rollback() }

    var version: UInt64 { session.version }
    var interruption: Interruption? {
        get { session.interruption }
        set { session.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try reading { try session.record(entity, rowID: rowID) } }
    func scan(_ request: FetchRequest) throws -> Scan { try reading { try session.scan(request) } }
    func count(_ request: FetchRequest) throws -> Int {
        let request = try scored(request)
        return try reading { try session.count(request) }
    }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try reading { try session.plan(request) } }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try reading { try session.explain(request, in: self) } }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try reading { try session.related(relationship, of: sources) }
    }

    func value(named name: String) throws -> [UInt8]? { try reading { try session.value(named: name) } }
    func valueNames(prefix: String) throws -> [String] { try reading { try session.valueNames(prefix: prefix) } }

    func logEntries(after position: Int64, limit: Int) throws -> [LogEntry] {
        try reading { try session.logEntries(after: position, limit: limit) }
    }

    func logBounds() throws -> LogBounds { try reading { try session.logBounds() } }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        try check()
        let table = try session.tables.table(entity)
        guard count > 0 else { throw StoreError(.misuse, "\(count) ids of \(entity.name) were asked for.", entity: entity.name) }
        let first = try connection.uninterrupted { try IDSequence(connection: connection, table: table).take(count) }
        reservations.append((table, count))
        return first
    }

    func apply(_ changes: ChangeSet) throws {
        try check()
        let schema = session.tables.schema
        guard changes.schema === schema || changes.schema.description == schema.description else {
            throw StoreError(
                .misuse, "The change set was made for another schema than the store was opened with.", location: connection.path)
        }
        if changes.isEmpty { return }
        try connection.uninterrupted { try write(changes) }
    }

    private func write(_ changes: ChangeSet) throws {
        let writer = ChangeWriter(connection: connection, changes: changes, version: version + 1)
        let texts = try session.searchChanges(changes)
        let start = try WriteStart(connection, isSavepoint: hasApplied || !connection.inUse.isEmpty)
        do {
            try write(writer, start)
            if connection.misordered.text != start.misordered.text { try connection.storeMisordered() }
            try start.release()
            hasApplied = true
        } catch {
            pool.recordFailure(error)
            throw abandon(error, start)
        }
        if !texts.isEmpty { try indexing { try $0.add(texts) } }
    }

    /// Tries the write strategies in turn, the fastest first.
    private func write(_ writer: ChangeWriter, _ start: WriteStart) throws {
        // SQLite cannot drop an index that an open cursor uses.
        let late = connection.inUse.isEmpty ? try writer.lateIndexes() : []
        if !late.isEmpty {
            do {
                return try writer.write(clearsUnique: false, indexingLate: late)
            } catch is ChangeWriter.UniqueViolation {
                // The plain strategy identifies the object that holds the value.
                try undo(start)
            }
        }
        do {
            try writer.write(clearsUnique: false)
        } catch let violation as ChangeWriter.UniqueViolation {
            guard writer.updatesUnique else { throw writer.explain(violation) }
            // Unique values may be exchanged between objects: writes again, with the old values cleared first.
            try undo(start)
            do { try writer.write(clearsUnique: true) } catch let violation as ChangeWriter.UniqueViolation {
                throw writer.explain(violation)
            }
        }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        try flushSearch()
        let next = restoredVersion ?? version + 1
        do {
            try pool.checkFiles()
            try connection.commit(next)
        } catch {
            pool.recordFailure(error)
            rollback()
            throw error
        }
        defer { finish() }
        try settle(durability)
        pool.watchLog(next)
        return next
    }

    /// Makes the preceding commit as durable as requested.
    private func settle(_ durability: Durability) throws {
        do {
            if let failure = connection.checkpointFailure {
                pool.recordFailure(failure)
                // If `synchronous` is not FULL, the commit was not flushed before the checkpoint failed. A flush now could report success although the
                // data is lost: the system marks a page as clean even if it failed to write it.
                if durability == .full, !connection.isFullySynchronous { throw failure }
                return
            }
            try connection.settle(durability)
        } catch {
            pool.recordFailure(error)
            throw error
        }
    }

    func recordFailure(_ error: any Error) { pool.recordFailure(error) }

    func rollback() {
        guard !session.isEnded else { return }
        // A forked child process leaves the transaction of its parent alone.
        guard connection.process.isCurrent else { return session.end() }
        connection.rollback()
        finish()
    }

    private func finish() {
        session.end()
        pool.giveBackWriter()
    }

    /// Throws an error if SQLite has ended the transaction. After some errors SQLite rolls back the whole transaction: reads would see another snapshot, and
    /// writes would be committed immediately.
    func check() throws {
        try session.check()
        guard connection.isInTransaction else {
            throw StoreError(.closed, "The transaction was rolled back by SQLite after an earlier error.", location: connection.path)
        }
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        return try body()
    }

    /// Restores the state before a change set, so that it can be written with another strategy or abandoned.
    private func undo(_ start: WriteStart) throws {
        if start.isSavepoint { return try start.rollBack() }
        connection.rollback()
        let now = try connection.begin(writing: true)
        connection.misordered = start.misordered
        guard now == version else {
            connection.rollback()
            throw StoreError(.conflict, "Another process has written to \(connection.path) meanwhile.", location: connection.path)
        }
        session.beginSearching()
        // Reserved row ids stay reserved. The version is unchanged, so the same row ids are reserved again.
        for (table, count) in reservations { _ = try IDSequence(connection: connection, table: table).take(count) }
    }

    /// Undoes a failed change set. The returned error states if SQLite has rolled back more than that.
    private func abandon(_ error: any Error, _ start: WriteStart) -> any Error {
        if connection.isInTransaction || !start.isSavepoint {
            do {
                try undo(start)
                try start.release()
                return error
            } catch {
                // A partial change set must never be committed.
                connection.rollback()
            }
        }
        guard var storeError = error as? StoreError else { return error }
        storeError.message += " SQLite rolled the whole transaction back."
        return storeError
    }
}

/// The state to which a failed change set is rolled back.
///
/// With a savepoint, SQLite copies every page before its first change, which takes a seventh of the time of 10,000 updates. The first change set of a
/// transaction needs no savepoint: rolling back and beginning again restores the same state.
private struct WriteStart {
    let connection: Connection
    let isSavepoint: Bool
    let misordered: MisorderedColumns

    init(_ connection: Connection, isSavepoint: Bool) throws {
        self.connection = connection
        self.isSavepoint = isSavepoint
        misordered = connection.misordered
        if isSavepoint { try connection.run(connection.kept("SAVEPOINT change"), "Starting a change") }
    }

    /// Rolls back to the savepoint, which stays open.
    func rollBack() throws {
        try connection.run(connection.kept("ROLLBACK TO change"), "Undoing a change")
        connection.misordered = misordered
    }

    func release() throws { if isSavepoint { try connection.run(connection.kept("RELEASE change"), "Finishing a change") } }
}

extension Connection {
    /// Stores the names of the columns that SQLite orders differently, in the transaction that wrote the first such value.
    func storeMisordered() throws {
        let statement = try kept("UPDATE polystore_state SET nan = ?")
        let code = statement.bind(1, .textBytes(misordered.text))
        guard code == SQLITE_OK else { throw error(code, "Writing the store's state") }
        try run(statement, "Writing the store's state")
    }

    /// Makes the preceding commit as durable as requested.
    ///
    /// `synchronous` cannot be set inside a transaction, and the requested durability is known only at its end. The setting therefore follows the latest
    /// request and applies to the next commit. A commit that requested less has been flushed anyway; for one that requested more, the log is flushed here.
    func settle(_ durability: Durability) throws {
        guard isFullySynchronous != (durability == .full) else { return }
        if durability == .full {
            let code = polystore_sqlite_sync_wal(handle)
            guard code == SQLITE_OK else {
                throw StoreError(sqlite: code, "Flushing a commit that is written but may not be on the disk", path: path)
            }
        }
        try setFullySynchronous(durability == .full)
    }
}
