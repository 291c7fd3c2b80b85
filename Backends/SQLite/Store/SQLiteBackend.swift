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
                .transferableWriter, .namedValues, .changeLog,
            ],
            largestValue: largestValue)
    }

    // The pool is also held by transactions that still run; a store that nobody holds any more must not wait for them.
    deinit { pool.close() }

    /// A commit writes to the write-ahead log, which carries no locks.
    var commitFiles: [String] { [pool.path + "-wal"] }

    func beginRead() throws -> any ReadTransaction { try SQLiteReadTransaction(pool) }
    func beginWrite() throws -> any WriteTransaction { try SQLiteWriteTransaction(pool) }
    func close() throws { pool.close() }
}
