import PolyStoreBackend
import PolyStoreConformance
import PolyStoreKeyValue
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import SmallStores

/// The engines of the built-in backends with their declared features.
package enum Engines {
    package static let memory = EngineTarget(name: "memory", features: [.transferableWriter, .compaction], isTransactional: true) { _ in
        .memory()
    }

    package static let lmdb = EngineTarget(
        name: "lmdb", features: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .copying, .compaction], isTransactional: true
    ) { location in try .lmdb(path: StorePath.resolve(location.path), options: LMDBOptions(), isReadOnly: false) }

    package static let levelDB = EngineTarget(name: "leveldb", features: [.persistence, .fullDurability, .copying, .compaction]) {
        location in
        try .levelDB(path: StorePath.resolve(location.path), options: LevelDBOptions())
    }

    package static let all = [memory, lmdb, levelDB]
}
