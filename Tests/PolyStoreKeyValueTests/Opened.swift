import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// A store in an engine that outlives it.
struct Opened {
    let engine: TestEngine
    let store: Store
    let backend: KeyValueBackend
    var layout: StoreLayout { backend.layout }

    init(
        _ engine: TestEngine = TestEngine(), _ schema: ResolvedSchema? = nil, configuration: String? = nil, isReadOnly: Bool = false,
        resets: Bool = false, keepsMigration: Bool = false, logger: any StoreLogger = SilentLogger()
    ) throws {
        self.engine = engine
        let schema = try schema ?? Company.schema()
        var request = OpenRequest(
            schema: schema, configurationName: configuration, isReadOnly: isReadOnly, resetsOnModelMismatch: resets, logger: logger)
        request.keepsInterruptedMigration = keepsMigration
        backend = try KeyValueBackend(EngineHandle(private: engine), request)
        store = Store(backend, schema)
    }

    /// Returns the key of a record.
    func record(_ entity: String, _ id: Int64) throws -> [UInt8] {
        KeyWriter().recordBytes(layout.number(of: try store.entity(entity)), id)
    }

    func index(_ name: String) throws -> KeyIndex { try #require(layout.indexes.flatMap { $0 }.first { $0.index.name == name }) }

    /// Returns the key of an object's entry in an index.
    func entry(_ name: String, _ id: Int64) throws -> [UInt8] {
        let index = try index(name)
        return try store.read { transaction in
            let record = try #require(try transaction.record(index.entity, rowID: id))
            let keys = KeyWriter()
            index.key(record, id, keys)
            return keys.bytes
        }
    }

    func state(_ name: String) throws -> IndexState? {
        let key = Keyspace.Metadata.indexState.key(try index(name).number)
        return engine[key].flatMap { $0.withUnsafeBytes { IndexState($0) } }
    }
}
