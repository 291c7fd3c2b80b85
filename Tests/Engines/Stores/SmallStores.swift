package import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// Stores of the built-in engines with small limits, so that a few commits make LMDB grow its map and LevelDB flush its memtable.
package enum SmallStores {
    /// The names of the engines on the command line.
    package static let engines = ["memory", "sqlite", "lmdb", "leveldb"]

    /// Returns the configuration of a store of an engine.
    /// - Parameters:
    ///   - mapSize: The initial map size of LMDB, in bytes.
    ///   - writeBufferSize: The memtable size of LevelDB, in bytes.
    ///   - pageSize: The page size of SQLite in bytes, or nil for the default.
    ///   - timeout: The limit of the waits for other transactions, on SQLite and LMDB, or nil for the default.
    /// - Returns: nil if the engine is not one of ``engines``.
    package static func configuration(
        _ engine: String, _ path: String, mapSize: Int = 1 << 20, writeBufferSize: Int = 256 << 10, pageSize: Int? = nil,
        timeout: Duration? = nil
    ) -> StoreConfiguration? {
        switch engine {
        case "memory": return .inMemory()
        case "sqlite":
            var options = SQLiteOptions()
            if let pageSize { options.pageSize = pageSize }
            if let timeout { options.busyTimeout = timeout }
            return .sqlite(file: path, options: options)
        case "lmdb":
            var options = LMDBOptions()
            options.mapSize = mapSize
            if let timeout { (options.growthTimeout, options.migrationTimeout) = (timeout, timeout) }
            return .lmdb(file: path, options: options)
        case "leveldb":
            var options = LevelDBOptions()
            options.writeBufferSize = writeBufferSize
            return .levelDB(directory: path, options: options)
        default: return nil
        }
    }
}
