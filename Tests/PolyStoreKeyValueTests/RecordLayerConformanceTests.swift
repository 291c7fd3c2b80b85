import PolyStoreBackend
import PolyStoreConformance
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// The record layer over an engine that implements the contract strictly, with a small chunk size, so that long values span many chunks.
@Suite struct RecordLayerConformanceTests {
    private static let engines = Protected<[[UInt8]: TestEngine]>([:])

    private static let target = ConformanceTarget(
        name: "test engine",
        capabilities: [
            .persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .namedValues, .changeLog, .migration,
        ], keepsLocalFiles: false
    ) { location in StoreConfiguration(engine: "test", location: location.path) { try open(location.path, $0) } }

    private static func open(_ path: String, _ request: OpenRequest) throws -> any StorageBackend {
        if request.isReadOnly { throw StoreError(.unsupported, "The test engine cannot be opened for reading only.") }
        let engine = engines.withLock { engines in
            let engine = engines[Array(path.utf8)] ?? TestEngine(location: path, maximumPieceSize: 1000)
            engines[Array(path.utf8)] = engine
            return engine
        }
        return try KeyValueBackend(EngineHandle.shared("test:\(path)", isReadOnly: false) { engine }, request)
    }

    /// Areas of requests, which the record layer executes in the same way on every engine. The conformance suite runs them on memory, LMDB and LevelDB.
    private static let aboutRequests = [
        "aggregate", "comparison", "expression", "group", "order", "plan", "query", "refusal", "related", "text",
    ]

    private static func isRun(_ id: String) -> Bool {
        Ring.current == .thorough || !aboutRequests.contains { id.hasPrefix($0 + ".") }
    }

    @Test(arguments: ConformanceCase.all.map(\.id).filter(isRun))
    func conforms(_ id: String) async throws {
        let found = try #require(ConformanceCase.all.first { $0.id == id })
        try await found.run(Self.target)
    }
}
