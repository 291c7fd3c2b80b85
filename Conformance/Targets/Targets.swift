import PolyStoreBackend
import PolyStoreConformance
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite

/// The built-in backends, each held to what it claims.
package enum Targets {
    package static let memory = ConformanceTarget(
        name: "memory", capabilities: [.concurrentReaders, .verification, .plannedIndexes, .transferableWriter]
    ) { _ in .inMemory() }

    package static let sqlite = ConformanceTarget(
        name: "sqlite",
        capabilities: [
            .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes,
            .transferableWriter,
        ]
    ) { place in .sqlite(file: place.path) }

    package static let lmdb = ConformanceTarget(
        name: "lmdb",
        capabilities: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes]
    ) { place in .lmdb(file: place.path) }

    package static let levelDB = ConformanceTarget(
        name: "leveldb",
        capabilities: [.persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .transferableWriter]
    ) { place in .levelDB(directory: place.path) }

    package static let all = [memory, sqlite, lmdb, levelDB]
}
