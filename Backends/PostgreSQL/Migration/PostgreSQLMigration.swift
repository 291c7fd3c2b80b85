import PolyStoreBackend

/// A migration in one write transaction. It fills tables with names of their own, which take the names of the former tables at the commit.
///
/// Others read the store meanwhile. If their snapshots last longer than the commit waits, the new tables keep names of their own until the snapshots have ended; see ``MigrationCompletion``.
final class PostgreSQLMigration: StoreMigration {
    private let change: SchemaChange
    private let pool: ConnectionPool
    private let snapshot: PostgreSQLReadTransaction
    private let transaction: PostgreSQLWriteTransaction
    private let writer: MigrationTarget
    private let tables: MigrationTables
    /// The first unique index that migrated records violate.
    private let violation: StoreError?
    // A migration is used by one thread at a time, and no access lasts longer than a statement.
    @exclusivity(unchecked) private var isEnded = false

    var source: any ReadTransaction { snapshot }
    var target: any WriteTransaction { writer }
    /// A migration in one transaction cannot be resumed.
    var savedPosition: [UInt8]? { nil }

    init(_ pool: ConnectionPool, _ change: SchemaChange) throws {
        let tables = MigrationTables(change, in: pool.tables.plainSchema)
        let first: PostgreSQLWriteTransaction
        do { first = try PostgreSQLWriteTransaction(pool, isAwaited: true) } catch var error as StoreError where error.code == .busy {
            error.message =
                "Cannot migrate the store \(pool.location): another process is writing to it, or is migrating it. Wait until it has finished, and "
                + "open the store again."
            if let connection = try? pool.database.connect(), let holders = pool.database.lockHolders(connection) {
                error.message += " \(holders)"
            }
            throw error
        }
        // Without another writer, the snapshot shows the version that the migration starts from.
        snapshot = try PostgreSQLReadTransaction(pool)
        transaction = PostgreSQLWriteTransaction(continuing: first, tables.staged)
        do { violation = try tables.fill(transaction.session.connection, pool.database) } catch let error as StoreError {
            throw Self.named(error, transaction, pool)
        }
        writer = MigrationTarget(transaction, change)
        self.tables = tables
        self.change = change
        self.pool = pool
    }

    deinit { rollback() }

    func save(_ position: [UInt8]) throws { try check() }

    func commit() throws {
        try check()
        do {
            if let violation { throw violation }
            snapshot.end()
            _ = try transaction.commit(try tables.replacement(transaction.session.connection, pool.database), .full, keepsReaders: false)
        } catch let error as StoreError {
            let failure = error.recovery == .commitOutcomeUnknown ? outcome(of: error) : Self.named(error, transaction, pool)
            let explained = failure.map { tables.explained($0, transaction.session.connection) }
            rollback()
            if let explained { throw explained }
        }
        isEnded = true
        pool.close()
    }

    /// Returns an error of a lock that another session holds with that session. Ends the transaction.
    private static func named(_ error: StoreError, _ transaction: PostgreSQLWriteTransaction, _ pool: ConnectionPool) -> StoreError {
        guard error.sqlState == "55P03" else { return error }
        var error = error
        error.message = "Cannot migrate the store. \(error.message)"
        return pool.database.namingHolders(in: error, transaction.session.connection)
    }

    /// Asks for the outcome of the commit, whose response was lost.
    /// - Returns: The error of the commit; nil if the commit took effect.
    private func outcome(of failure: StoreError) -> StoreError? {
        for number in 1...Self.mostQuestions {
            switch try? transaction.commitOutcome() {
            case .committed?: return nil
            case .notCommitted?:
                return StoreError(
                    .io, "The connection ended at the commit of the migration of \(pool.location). The store was not migrated. Try again.",
                    location: pool.location, underlying: failure.underlying, recovery: .connectionLost)
            case .unknown?: return failure
            case nil: if number < Self.mostQuestions { Deadline.pause(milliseconds: Self.pause * number) }
            }
        }
        return failure
    }

    /// The number of requests for the outcome of the commit, and the pauses between them in milliseconds, which grow by the first one.
    private static let (mostQuestions, pause) = (5, 50)

    func rollback() {
        guard !isEnded else { return }
        isEnded = true
        snapshot.end()
        transaction.rollback()
    }

    private func check() throws {
        if isEnded { throw StoreError(.closed, "The migration of \(pool.location) has ended.", location: pool.location) }
    }
}

extension PostgreSQLBackend {
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(pool.location) was opened for reading only.", location: pool.location)
        }
        let schema = pool.tables.schema
        // The hash does not depend on the order of the entities, but the entity indexes in the change do.
        guard
            change.source === schema
                || change.source.versionHash == schema.versionHash && change.source.entities.map(\.name) == schema.entities.map(\.name)
        else {
            throw StoreError(
                .misuse,
                "The schema change \(change.identifier) begins with another schema than the store \(pool.location) was opened for.",
                location: pool.location)
        }
        if pool.isStaged {
            let connection = try pool.database.connect()
            guard try MigrationCompletion.run(connection, pool.database) else {
                throw StoreError(
                    .busy,
                    "Cannot migrate the store \(pool.location): others still read the tables from before the last migration. End their transactions and contexts."
                        + (pool.database.lockHolders(connection).map { " \($0)" } ?? ""),
                    location: pool.location)
            }
            pool.didRename()
        }
        return try PostgreSQLMigration(pool, change)
    }
}
