import PolyStoreBackend
import PolyStoreConformance
import PolyStoreKeyValue
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import SmallStores

/// The built-in backends, each held to what it claims.
package enum Targets {
    package static let memory = ConformanceTarget(
        name: "memory", capabilities: [.concurrentReaders, .verification, .plannedIndexes, .transferableWriter, .namedValues, .changeLog]
    ) { _ in .inMemory() }

    package static let sqlite = ConformanceTarget(
        name: "sqlite",
        capabilities: [
            .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes,
            .transferableWriter, .namedValues, .changeLog,
        ], findsDamage: false
    ) { place in
        // Writers wait for each other for as long as it takes: a machine under load is no failure.
        var options = SQLiteOptions()
        options.busyTimeout = 3_600_000
        return .sqlite(file: place.path, options: options)
    }

    package static let lmdb = ConformanceTarget(
        name: "lmdb",
        capabilities: [
            .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .namedValues,
            .changeLog,
        ]
    ) { place in
        // As long as it takes, here too.
        var options = LMDBOptions()
        options.growthTimeout = 3_600_000
        return .lmdb(file: place.path, options: options)
    }

    package static let levelDB = ConformanceTarget(
        name: "leveldb",
        capabilities: [
            .persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .transferableWriter, .namedValues,
            .changeLog,
        ]
    ) { place in .levelDB(directory: place.path) }

    package static let all = [memory, sqlite, lmdb, levelDB]

    /// A store for a process that is killed: with a map that has to grow and tables that have to be written meanwhile.
    package static func configuration(_ name: String, _ path: String) -> StoreConfiguration {
        SmallStores.configuration(name, path) ?? .inMemory()
    }
}

/// The engines below the built-in backends, each held to the engine's contract.
package enum Engines {
    package static let memory = EngineTarget(name: "memory", features: [.transferableWriter], isTransactional: true) { _ in .memory() }

    package static let lmdb = EngineTarget(
        name: "lmdb", features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability], isTransactional: true
    ) { place in try .lmdb(path: FilePlace.resolve(place.path), options: LMDBOptions(), isReadOnly: false) }

    package static let levelDB = EngineTarget(name: "leveldb", features: [.persistence, .fullDurability]) { place in
        try .levelDB(path: FilePlace.resolve(place.path), options: LevelDBOptions())
    }

    package static let all = [memory, lmdb, levelDB]
}
