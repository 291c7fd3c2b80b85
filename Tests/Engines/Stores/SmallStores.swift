package import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// Stores of the built-in engines with small limits: maps have to grow and tables have to be written within few commits.
package enum SmallStores {
    /// The engines, by the names that programs take.
    package static let engines = ["memory", "sqlite", "lmdb", "leveldb"]

    /// A store of an engine.
    /// - Parameters:
    ///   - mapSize: Of LMDB, in bytes.
    ///   - writeBufferSize: Of LevelDB, in bytes.
    ///   - pageSize: Of SQLite, in bytes; nil: the usual one.
    /// - Returns: nil for an engine that is not one of ``engines``.
    package static func configuration(
        _ engine: String, _ path: String, mapSize: Int = 1 << 20, writeBufferSize: Int = 256 << 10, pageSize: Int? = nil
    ) -> StoreConfiguration? {
        switch engine {
        case "memory": return .inMemory()
        case "sqlite":
            var options = SQLiteOptions()
            if let pageSize { options.pageSize = pageSize }
            return .sqlite(file: path, options: options)
        case "lmdb":
            var options = LMDBOptions()
            options.mapSize = mapSize
            return .lmdb(file: path, options: options)
        case "leveldb":
            var options = LevelDBOptions()
            options.writeBufferSize = writeBufferSize
            return .levelDB(directory: path, options: options)
        default: return nil
        }
    }
}
