import PolyStoreBackend
import PolyStoreConformance
import TestSupport
import Testing

@testable import PolyStoreKeyValue

/// The record layer over an engine that implements the contract strictly, with a small chunk size, so that long values span many chunks.
@Suite struct RecordLayerConformanceTests {
    private static let engines = Protected<[String: TestEngine]>([:])

    private static let target = ConformanceTarget(
        name: "test engine",
        capabilities: [
            .persistence, .fullDurability, .concurrentReaders, .verification, .plannedIndexes, .namedValues, .changeLog, .migration,
        ]
    ) { location in StoreConfiguration(engine: "test", location: location.path) { try open(location.path, $0) } }

    private static func open(_ path: String, _ request: OpenRequest) throws -> any StorageBackend {
        if request.isReadOnly { throw StoreError(.unsupported, "The test engine cannot be opened for reading only.") }
        let engine = engines.withLock { engines in
            let engine = engines[path] ?? TestEngine(location: path, maximumPieceSize: 1000)
            engines[path] = engine
            return engine
        }
        return try KeyValueBackend(EngineHandle.shared("test:\(path)", isReadOnly: false) { engine }, request)
    }

    /// Cases that an engine without files cannot run.
    private static let aboutFiles: Set<String> = ["opening.missing-folder.is-an-io-error", "opening.foreign-file.is-refused"]

    /// Areas of requests, which the record layer executes in the same way on every engine. The conformance suite runs them on memory, LMDB and LevelDB.
    private static let aboutRequests = [
        "aggregate", "comparison", "expression", "group", "order", "plan", "query", "refusal", "related", "text",
    ]

    private static func isRun(_ id: String) -> Bool {
        if aboutFiles.contains(id) { return false }
        return Ring.current == .thorough || !aboutRequests.contains { id.hasPrefix($0 + ".") }
    }

    @Test(arguments: ConformanceCase.all.map(\.id).filter(isRun))
    func conforms(_ id: String) async throws {
        let found = try #require(ConformanceCase.all.first { $0.id == id })
        try await found.run(Self.target)
    }
}
