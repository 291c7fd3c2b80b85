import CPostgreSQL
import PolyStoreBackend

/// A store in a schema of a PostgreSQL database.
final class PostgreSQLBackend: StorageBackend {
    let metadata: StoreMetadata
    let capabilities: Capabilities
    let pool: ConnectionPool
    let isReadOnly: Bool
    let logger: any StoreLogger

    init(pool: ConnectionPool, metadata: StoreMetadata, isReadOnly: Bool, logger: any StoreLogger) {
        self.pool = pool
        self.metadata = metadata
        self.isReadOnly = isReadOnly
        self.logger = logger
        var capabilities = Capabilities(
            features: [
                .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .transferableWriter, .namedValues,
                .changeLog,
                .verification, .migration, .copying, .compaction, .shortSnapshots, .requiredObjects, .searchIndexes,
            ], largestValue: 1 << 26)
        capabilities.waitsForServer = true
        capabilities.mostSnapshots = pool.mostSnapshots
        self.capabilities = capabilities
    }

    // Running transactions also hold the pool, so it is closed explicitly when the store is released.
    deinit { pool.close() }

    var readSessions: ReadSessions? { pool.readSessions }

    func snapshotHolders() throws -> [SnapshotHolder]? { try pool.watch.holders(pool) }

    func beginRead() throws -> any ReadTransaction { try PostgreSQLReadTransaction(pool) }

    func beginWrite() throws -> any WriteTransaction {
        try checkMayWrite()
        return try PostgreSQLWriteTransaction(pool)
    }

    func checkMayWrite() throws {
        guard !isReadOnly else {
            throw StoreError(.readOnly, "The store \(pool.location) was opened for reading only.", location: pool.location)
        }
    }

    /// Listens on a connection of its own, which reports commits soon after they are visible. Where the server or a pooler refuses to listen, reads the version regularly. Of several commits within a few milliseconds the first and the last are
    /// reported.
    func announceCommits(to handler: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
        CommitListener(pool, handler)
    }

    /// Runs VACUUM on each table, which makes the space of deleted rows available and returns the pages at the ends of the tables to the file system. Neither readers nor writers wait.
    /// - Throws: `io` with the tables that the user may not compact.
    func compact() throws {
        try checkMayWrite()
        try mergeSearchIndexes()
        let (connection, _) = try pool.borrow()
        defer { pool.giveBack(connection) }
        try checkCompaction(connection)
        let tables = pool.tables
        let search = pool.search.newest.map { $0.indexes.isEmpty } ?? true ? [] : ["search", "search_pages"]
        let own = (["state", "commits", "sequence", "values", "log"] + search).map { tables.own($0) }
        // Each in a pipeline of its own, because it cannot be part of a transaction.
        for name in tables.entities.map(\.name) + tables.links.map(\.name) + own { try connection.run([.once("VACUUM (ANALYZE) \(name)")]) }
    }

    /// Checks the right to compact, without which the server skips a table with a warning.
    private func checkCompaction(_ connection: Connection) throws {
        let maintains = PQserverVersion(connection.handle) >= 170_000 ? "OR pg_catalog.has_table_privilege(c.oid, 'MAINTAIN')" : ""
        let rows = try connection.rows(
            """
            SELECT current_user::text, ARRAY(SELECT c.relname::text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_database d ON d.datname = current_database() WHERE n.nspname = $1 AND c.relkind = 'r'
            AND NOT (pg_catalog.pg_has_role(c.relowner, 'USAGE') OR pg_catalog.pg_has_role(d.datdba, 'USAGE') \(maintains)) ORDER BY 1)::text
            """, [.text(pool.tables.plainSchema)])
        let missing = rows.text(0, 1) ?? "{}"
        guard missing == "{}" else {
            throw StoreError(
                .io,
                "The user \(rows.text(0, 0) ?? "") may not compact the tables \(missing) of \(pool.location). Use the user that owns them"
                    + (maintains.isEmpty ? "." : ", or grant MAINTAIN."), location: pool.location)
        }
    }

    func close() throws { pool.close() }
}
