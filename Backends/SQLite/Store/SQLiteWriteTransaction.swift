import CSQLite
import PolyStoreBackend

/// The one transaction that writes: the writing connection inside `BEGIN IMMEDIATE`.
final class SQLiteWriteTransaction: WriteTransaction {
    private let session: Session
    private let pool: ConnectionPool
    var connection: Connection { session.connection }

    init(_ pool: ConnectionPool) throws {
        let connection = try pool.borrowWriter()
        do {
            session = Session(connection, version: try connection.begin(writing: true))
        } catch {
            pool.giveBackWriter()
            throw error
        }
        self.pool = pool
    }

    deinit { rollback() }

    var version: UInt64 { session.version }
    func record(_ entity: Entity, id: Int64) throws -> RecordView? { try reading { try session.record(entity, id: id) } }
    func scan(_ request: FetchRequest) throws -> Scan { try reading { try session.scan(request) } }
    func count(_ request: FetchRequest) throws -> Int { try reading { try session.count(request) } }
    func plan(_ request: FetchRequest) throws -> QueryPlan { try reading { try session.plan(request) } }
    func explain(_ request: FetchRequest) throws -> QueryPlan { try reading { try session.explain(request) } }

    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        try reading { try session.related(relationship, of: sources) }
    }

    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 {
        try check()
        let table = try session.tables.table(entity)
        guard count > 0 else { throw StoreError(.misuse, "\(count) ids of \(entity.name) were asked for.", entity: entity.name) }
        return try IDSequence(connection: connection, table: table).take(count)
    }

    func apply(_ changes: ChangeSet) throws {
        try check()
        let schema = session.tables.schema
        guard changes.schema === schema || changes.schema.description == schema.description else {
            throw StoreError(.misuse, "The change set was made for another schema than the store was opened with.", url: connection.path)
        }
        if changes.isEmpty { return }
        let nan = connection.nan
        let writer = ChangeWriter(connection: connection, changes: changes)
        try connection.run(connection.kept("SAVEPOINT change"), "Starting a change")
        do {
            do {
                try writer.write(clearsUnique: false)
            } catch let taken as ChangeWriter.Taken {
                guard writer.updatesUnique else { throw writer.explain(taken) }
                // Values may be swapping owners: once more, with the old ones out of the way.
                try undo(nan)
                do { try writer.write(clearsUnique: true) } catch let taken as ChangeWriter.Taken { throw writer.explain(taken) }
            }
            if connection.nan.text != nan.text { try connection.storeNaN() }
            try connection.run(connection.kept("RELEASE change"), "Finishing a change")
        } catch {
            throw abandon(error, nan)
        }
    }

    func commit(_ durability: Durability) throws -> UInt64 {
        try check()
        let next = version + 1
        do {
            let statement = try connection.kept("UPDATE polystore_state SET version = ?")
            sqlite3_bind_int64(statement.handle, 1, Int64(bitPattern: next))
            try connection.run(statement, "Committing")
            try connection.commit()
        } catch {
            rollback()
            throw error
        }
        defer { finish() }
        try connection.settle(durability)
        pool.watchLog()
        return next
    }

    func rollback() {
        guard !session.isEnded else { return }
        connection.rollback()
        finish()
    }

    private func finish() {
        session.end()
        pool.giveBackWriter()
    }

    /// After some errors SQLite rolls the whole transaction back by itself. What is read then is another snapshot, and what is written would be
    /// committed at once: nothing may go on.
    private func check() throws {
        try session.check()
        guard connection.isInTransaction else {
            throw StoreError(.closed, "The transaction was rolled back by SQLite after an earlier error.", url: connection.path)
        }
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try check()
        return try body()
    }

    /// Back to the savepoint, which stays open.
    private func undo(_ nan: NaNColumns) throws {
        try connection.run(connection.kept("ROLLBACK TO change"), "Undoing a change")
        connection.nan = nan
    }

    /// Undoes a change set that failed and says if more than that is gone.
    private func abandon(_ error: any Error, _ nan: NaNColumns) -> any Error {
        if connection.isInTransaction {
            do {
                try undo(nan)
                try connection.run(connection.kept("RELEASE change"), "Undoing a change")
                return error
            } catch {
                // Half a change set must never be committed.
                connection.rollback()
            }
        }
        guard var told = error as? StoreError else { return error }
        told.message += " SQLite rolled the whole transaction back."
        return told
    }
}

extension Connection {
    /// Keeps the names of columns with NaN, in the transaction that put it there.
    func storeNaN() throws {
        let statement = try kept("UPDATE polystore_state SET nan = ?")
        let code = statement.bind(1, .textBytes(nan.text))
        guard code == SQLITE_OK else { throw error(code, "Writing the store's state") }
        try run(statement, "Writing the store's state")
    }

    /// Makes a commit that has just happened as durable as asked.
    ///
    /// `synchronous` cannot be set inside a transaction, and how durable it must be is known only at its end. So the setting follows the
    /// latest wish, for the next commit: one that wanted less got more, and one that wanted more has the log flushed here.
    func settle(_ durability: Durability) throws {
        guard isFullySynchronous != (durability == .full) else { return }
        if durability == .full {
            let code = polystore_sqlite_sync_wal(handle)
            guard code == SQLITE_OK else {
                throw StoreError(
                    sqlite: code, "Flushing a commit that is written but may not be on the disk",
                    text: String(cString: sqlite3_errstr(code)), url: path)
            }
        }
        try setFullySynchronous(durability == .full)
    }
}
