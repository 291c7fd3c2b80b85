import ConformanceTargets
import PolyStoreConformance
import Testing

extension ConformanceCase: CustomTestStringConvertible {
    /// The case id, as the test name.
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

extension EngineCase: CustomTestStringConvertible {
    /// The case id, as the test name.
    public var testDescription: String { id }
}

/// The engine cases on the built-in engines, without the record layer.
@Suite struct EngineConformance {
    @Test(arguments: EngineCase.all)
    func memoryEngineConforms(_ c: EngineCase) async throws { try await c.run(Engines.memory) }

    @Test(arguments: EngineCase.all)
    func lmdbEngineConforms(_ c: EngineCase) async throws { try await c.run(Engines.lmdb) }

    @Test(arguments: EngineCase.all)
    func levelDBEngineConforms(_ c: EngineCase) async throws { try await c.run(Engines.levelDB) }
}
