import CSQLite
import PolyStoreBackend

/// A store in one SQLite file.
final class SQLiteBackend: StorageBackend {
    let metadata: StoreMetadata
    let capabilities: Capabilities
    let pool: ConnectionPool

    init(pool: ConnectionPool, metadata: StoreMetadata, largestValue: Int) {
        self.pool = pool
        self.metadata = metadata
        capabilities = Capabilities(
            features: [
                .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes,
                .searchIndexes,
                .transferableWriter, .namedValues, .changeLog, .migration, .copying, .compaction,
            ],
            largestValue: largestValue)
    }

    // Running transactions also hold the pool, so it is closed explicitly when the store is released.
    deinit { pool.close() }

    /// The write-ahead log, which every commit writes to and which carries no locks.
    var commitFiles: [String] { [pool.path + "-wal"] }

    var readSessions: ReadSessions? { pool.readSessions }

    func beginRead() throws -> any ReadTransaction { try SQLiteReadTransaction(pool) }
    func beginWrite() throws -> any WriteTransaction { try SQLiteWriteTransaction(pool) }
    func close() throws { pool.close() }

    /// Rewrites the database in table order (`VACUUM`) and runs a checkpoint.
    func compact() throws {
        let connection = try pool.borrowWriter()
        defer { pool.giveBackWriter() }
        do {
            try pool.checkFiles()
            // The log before it must be durable, so that a power failure cannot remove it.
            try pool.flushLog(connection)
            try connection.setFullySynchronous(true)
            try mergeSearchIndexes(connection)
            try connection.execute("VACUUM")
            // Without waiting for readers of older snapshots: the log is then copied when they have ended.
            sqlite3_busy_timeout(connection.handle, 0)
            defer { sqlite3_busy_timeout(connection.handle, Int32(clamping: pool.options.busyTimeout.inMilliseconds)) }
            try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            pool.recordFailure(error)
            throw error
        }
    }
}
