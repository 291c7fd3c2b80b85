import PolyStoreBackend
import PolyStoreCore

/// A backend around another one, which has no transactions that restore a store, or fails to close a complete store.
final class OuterBackend: StorageBackend {
    enum Defect { case restoresNothing, cannotBeClosed }

    private let inner: any StorageBackend
    private let defect: Defect
    private let store: StoreConfiguration

    init(_ inner: any StorageBackend, _ defect: Defect, _ store: StoreConfiguration) {
        (self.inner, self.defect, self.store) = (inner, defect, store)
    }

    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }
    func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    func beginWrite() throws -> any WriteTransaction {
        defect == .restoresNothing ? OuterWriter(try inner.beginWrite()) : try inner.beginWrite()
    }
    func close() throws {
        try inner.close()
        guard defect == .cannotBeClosed, (try? StoreDigest(of: store, logger: SilentLogger())) != nil else { return }
        throw StoreError(.io, "The test simulates a store that cannot be closed.")
    }
}

private final class OuterWriter: WriteTransaction {
    private let inner: any WriteTransaction

    init(_ inner: any WriteTransaction) { self.inner = inner }

    var version: UInt64 { get throws { try inner.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }
    func scan(_ request: FetchRequest) throws -> Scan { try inner.scan(request) }
    func search(_ request: SearchRequest) throws -> SearchHits? { try inner.search(request) }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try inner.related(relationship, of: sources) }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }
    func apply(_ changes: ChangeSet) throws { try inner.apply(changes) }
    func commit(_ durability: Durability) throws -> UInt64 { try inner.commit(durability) }
    func rollback() { inner.rollback() }
}

extension StoreConfiguration {
    /// Returns the same store of a backend with a defect.
    /// - Parameter erases: Whether the backend can erase the store.
    func outer(_ defect: OuterBackend.Defect, erases: Bool = true) -> StoreConfiguration {
        let store = self
        var erase: (@Sendable () throws -> Void)?
        if erases { erase = { try store.erase() } }
        return StoreConfiguration(engine: "outer", location: location, isShared: isShared, erase: erase) { request in
            var inner = store
            (inner.conversion, inner.isReadOnly) = (request.conversion, request.isReadOnly)
            return OuterBackend(
                try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger), defect, store)
        }
    }
}
