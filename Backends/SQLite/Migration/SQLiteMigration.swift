import PolyStoreBackend

/// A migration in one write transaction, on its own connection.
///
/// Other connections read the previous version from the write-ahead log until the commit, so the old tables can be altered and dropped immediately.
final class SQLiteMigration: StoreMigration {
    private let change: SchemaChange
    private let pool: ConnectionPool
    private let connection: Connection
    private let snapshot: SQLiteReadTransaction
    private let transaction: SQLiteWriteTransaction
    private let writer: SQLiteMigrationTarget
    /// The first unique index that migrated records violate.
    private let violation: StoreError?
    // A migration is used by one thread at a time, and no access lasts longer than a statement.
    @exclusivity(unchecked) private var isEnded = false

    var source: any ReadTransaction { snapshot }
    var target: any WriteTransaction { writer }
    /// A migration in one transaction cannot be resumed.
    var savedPosition: [UInt8]? { nil }

    init(_ pool: ConnectionPool, _ change: SchemaChange) throws {
        let targetTables = try StoreTables(change.target)
        let sourceTables = try StoreTables(change.source)
        // Blocks other transactions of the process.
        _ = try pool.borrowWriter()
        let connection: Connection
        do { connection = try pool.openMigrating(targetTables) } catch {
            pool.giveBackWriter()
            throw error
        }
        do {
            let version = try Self.begin(connection, pool)
            try pool.didBeginWriting()
            // No other connection can commit now, so the snapshot shows the version that the migration starts from.
            snapshot = try SQLiteReadTransaction(pool)
            violation = try SchemaMigrator(connection, change, source: sourceTables, target: targetTables).run()
            try SearchTables(connection: connection).migrate(change)
            transaction = SQLiteWriteTransaction(migrating: connection, version: version, pool)
        } catch {
            pool.recordFailure(error)
            connection.rollback()
            pool.close(migrating: connection)
            pool.giveBackWriter()
            throw error
        }
        writer = SQLiteMigrationTarget(transaction, change)
        self.change = change
        self.pool = pool
        self.connection = connection
    }

    deinit { rollback() }

    private static func begin(_ connection: Connection, _ pool: ConnectionPool) throws -> UInt64 {
        do { return try pool.beginWriting(connection) } catch var error as StoreError where error.code == .busy {
            error.message =
                "Cannot migrate the store \(connection.path): another process is writing to it, or is migrating it. Wait until it has finished, and "
                + "open the store again."
            throw error
        }
    }

    func save(_ position: [UInt8]) throws { try check() }

    func commit() throws {
        try check()
        do {
            if let violation { throw violation }
            try MetadataTable(connection: connection).write(change.target)
            // An open snapshot would prevent the checkpoint from copying the whole log.
            snapshot.end()
            _ = try transaction.commit(.full)
        } catch {
            pool.recordFailure(error)
            rollback()
            throw error
        }
        isEnded = true
        pool.close(migrating: connection)
        // The last connection that closes copies the rest of the log into the database.
        pool.close()
    }

    func rollback() {
        guard !isEnded else { return }
        isEnded = true
        snapshot.end()
        transaction.rollback()
        if connection.process.isCurrent { pool.close(migrating: connection) }
    }

    private func check() throws {
        if isEnded { throw StoreError(.closed, "The migration of \(pool.path) has ended.", location: pool.path) }
    }
}

extension SQLiteBackend {
    func beginMigration(_ change: SchemaChange) throws -> any StoreMigration {
        let schema = pool.tables.schema
        // The hash does not depend on the order of the entities, but the entity indexes in the change do.
        guard
            change.source === schema
                || change.source.versionHash == schema.versionHash && change.source.entities.map(\.name) == schema.entities.map(\.name)
        else {
            throw StoreError(
                .misuse, "The schema change \(change.identifier) begins with another schema than the store \(pool.path) was opened for.",
                location: pool.path)
        }
        return try SQLiteMigration(pool, change)
    }
}
