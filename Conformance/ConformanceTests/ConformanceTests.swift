import PolyStoreBackend
import PolyStoreConformance
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStoreMemory
import PolyStoreSQLite
import Testing

/// The built-in backends, each held to what it claims.
enum Targets {
    static let memory = ConformanceTarget(name: "memory", capabilities: [.concurrentReaders, .verification, .plannedIndexes]) { _ in
        .inMemory()
    }

    static let sqlite = ConformanceTarget(
        name: "sqlite",
        capabilities: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes]
    ) { place in .sqlite(file: place.path) }

    static let lmdb = ConformanceTarget(
        name: "lmdb",
        capabilities: [.persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .verification, .plannedIndexes]
    ) { place in .lmdb(file: place.path) }

    static let levelDB = ConformanceTarget(
        name: "leveldb", capabilities: [.persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes]
    ) { place in .levelDB(directory: place.path) }

    static let all = [memory, sqlite, lmdb, levelDB]
}

extension ConformanceCase: CustomTestStringConvertible {
    public var testDescription: String { id }
}

@Suite struct MemoryConformance {
    @Test(arguments: ConformanceCase.all)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Targets.memory) }
}

@Suite struct SQLiteConformance {
    @Test(arguments: ConformanceCase.all)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Targets.sqlite) }
}

@Suite struct LMDBConformance {
    @Test(arguments: ConformanceCase.all)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Targets.lmdb) }
}

@Suite struct LevelDBConformance {
    @Test(arguments: ConformanceCase.all)
    func conforms(_ c: ConformanceCase) async throws { try await c.run(Targets.levelDB) }
}
