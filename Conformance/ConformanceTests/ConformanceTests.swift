import ConformanceTargets
import PolyStoreConformance
import Testing

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
