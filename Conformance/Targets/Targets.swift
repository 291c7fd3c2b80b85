import PolyStoreBackend
import PolyStoreConformance
import PolyStoreKeyValue
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import SmallStores

/// The built-in backends with their declared capabilities.
package enum Targets {
    package static let memory = ConformanceTarget(
        name: "memory",
        capabilities: [
            .concurrentReaders, .verification, .plannedIndexes, .searchIndexes, .transferableWriter, .namedValues, .changeLog, .compaction,
        ]
    ) { _ in .inMemory() }

    package static let sqlite = ConformanceTarget(
        name: "sqlite",
        capabilities: [
            .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .searchIndexes,
            .transferableWriter, .namedValues, .changeLog, .migration, .copying, .compaction,
        ], findsDamage: false
    ) { location in
        // Writers wait for each other practically without a limit: a loaded machine is not a failure.
        var options = SQLiteOptions()
        options.busyTimeout = .seconds(3600)
        return .sqlite(file: location.path, options: options)
    }

    package static let lmdb = ConformanceTarget(
        name: "lmdb",
        capabilities: [
            .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .searchIndexes,
            .namedValues,
            .changeLog, .migration, .copying, .compaction,
        ]
    ) { location in
        // Practically without a limit, as above.
        var options = LMDBOptions()
        options.growthTimeout = .seconds(3600)
        return .lmdb(file: location.path, options: options)
    }

    package static let levelDB = ConformanceTarget(
        name: "leveldb",
        capabilities: [
            .persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .searchIndexes, .transferableWriter,
            .namedValues,
            .changeLog, .migration, .copying, .compaction,
        ]
    ) { location in .levelDB(directory: location.path) }

    package static let all = [memory, sqlite, lmdb, levelDB]

    /// Returns a store for a process that is killed, with a map that has to grow and tables that have to be written during the run.
    package static func configuration(_ name: String, _ path: String) -> StoreConfiguration {
        SmallStores.configuration(name, path) ?? .inMemory()
    }
}
