import PolyStoreBackend

/// A store in a schema of a PostgreSQL database.
final class PostgreSQLBackend: StorageBackend {
    let metadata: StoreMetadata
    let capabilities: Capabilities
    let pool: ConnectionPool
    let isReadOnly: Bool

    init(pool: ConnectionPool, metadata: StoreMetadata, isReadOnly: Bool) {
        self.pool = pool
        self.metadata = metadata
        self.isReadOnly = isReadOnly
        var capabilities = Capabilities(
            features: [
                .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .transferableWriter, .namedValues,
                .changeLog,
                .verification, .migration, .compaction,
            ], largestValue: 1 << 26)
        capabilities.waitsForServer = true
        self.capabilities = capabilities
    }

    // Running transactions also hold the pool, so it is closed explicitly when the store is released.
    deinit { pool.close() }

    var readSessions: ReadSessions? { pool.readSessions }

    func beginRead() throws -> any ReadTransaction { try PostgreSQLReadTransaction(pool) }

    func beginWrite() throws -> any WriteTransaction {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(pool.location) was opened for reading only.", location: pool.location)
        }
        return try PostgreSQLWriteTransaction(pool)
    }

    /// Listens on a connection of its own, which reports commits soon after they are visible. Of several commits within a few milliseconds only the first is reported; the version, which is read once a
    /// second, shows the others.
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
        CommitListener(pool.database, channel: pool.channel, sender: pool.sender, handler)
    }

    /// Runs VACUUM on each table, which makes the space of deleted rows available and returns the pages at the ends of the tables to the file system. Neither readers nor writers wait.
    func compact() throws {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(pool.location) was opened for reading only.", location: pool.location)
        }
        let (connection, _) = try pool.borrow()
        defer { pool.giveBack(connection) }
        let tables = pool.tables
        let own = ["state", "commits", "sequence", "values", "log"].map { tables.own($0) }
        // Each in a pipeline of its own, because it cannot be part of a transaction.
        for name in tables.entities.map(\.name) + tables.links.map(\.name) + own { try connection.run([.once("VACUUM (ANALYZE) \(name)")]) }
    }

    func close() throws { pool.close() }
}
