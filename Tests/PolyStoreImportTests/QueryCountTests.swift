import PolyStore
import PolyStoreBackend
import Synchronization
import TestSupport
import Testing

/// The number of queries of an import depends on the number of its entities and relationships, not on that of its sources, except for one lookup per 512 unique
/// ids.
@Suite
struct QueryCountTests {
    static func sources(_ count: Int) -> [CitySource] {
        (0..<count).map {
            CitySource(
                number: $0, name: "city \($0)", country: "c\($0 % 50)", centre: ($0 * 7 + 1) % count, route: [$0, ($0 + 1) % count],
                nested: $0 % 3 == 0 ? CountrySource(code: "n\($0 % 40)", name: "nested") : nil)
        }
    }

    static let countries = (0..<50).map {
        CountrySource(code: "c\($0)", name: "country \($0)", neighbours: ["c\(($0 + 1) % 50)", "c\(($0 + 2) % 50)"])
    }

    @Test(arguments: Backend.forObjectLayer)
    func growsByOneForEachListOfIDs(_ backend: Backend) throws {
        func queries(_ count: Int) throws -> [Int] {
            let folder = try Folder()
            let counter = QueryCounter()
            let stack = try DataStack(schema)
            try stack.addStore(backend.store(in: folder).counting(counter))
            let sources = Self.sources(count)
            // An import into an empty store, then the same import with all objects present.
            return try (0..<2).map { _ in
                counter.reset()
                try stack.performAndWait { transaction throws in
                    #expect(try transaction.importUniqueObjects(Into<City>(), from: sources).count == count)
                    _ = try transaction.importUniqueObjects(Into<Country>(), from: Self.countries)
                }
                return counter.count
            }
        }
        let few = try queries(100)
        let many = try queries(2000)
        #expect(zip(many, few).allSatisfy { $0 - $1 <= 2000 / 512 }, "\(few), then \(many)")
        #expect(few.allSatisfy { $0 < 20 }, "\(few)")
    }
}

final class QueryCounter: Sendable {
    private let counted = Mutex(0)

    var count: Int { counted.withLock { $0 } }
    func reset() { counted.withLock { $0 = 0 } }
    func add() { counted.withLock { $0 += 1 } }
}

extension StoreConfiguration {
    /// Returns the same store with its queries counted.
    func counting(_ counter: QueryCounter) -> StoreConfiguration {
        let inner = self
        return StoreConfiguration(engine: engine, location: location, isShared: isShared) { request in
            CountingBackend(
                inner: try inner.open(schema: request.schema, configurationName: request.configurationName, logger: request.logger),
                counter: counter)
        }
    }
}

/// Forwards every call to another backend, and counts the queries of write transactions.
private final class CountingBackend: StorageBackend {
    let inner: any StorageBackend
    let counter: QueryCounter
    var capabilities: Capabilities { inner.capabilities }
    var metadata: StoreMetadata { inner.metadata }

    init(inner: any StorageBackend, counter: QueryCounter) { (self.inner, self.counter) = (inner, counter) }

    func beginRead() throws -> any ReadTransaction { try inner.beginRead() }
    func beginWrite() throws -> any WriteTransaction { CountingWriter(try inner.beginWrite(), counter) }
    func close() throws { try inner.close() }
}

private final class CountingWriter: WriteTransaction {
    let inner: any WriteTransaction
    let counter: QueryCounter

    init(_ inner: any WriteTransaction, _ counter: QueryCounter) { (self.inner, self.counter) = (inner, counter) }

    var version: UInt64 { get throws { try inner.version } }
    var interruption: Interruption? {
        get { inner.interruption }
        set { inner.interruption = newValue }
    }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? {
        counter.add()
        return try inner.record(entity, rowID: rowID)
    }
    func scan(_ request: FetchRequest) throws -> Scan {
        counter.add()
        return try inner.scan(request)
    }
    func search(_ request: SearchRequest) throws -> SearchHits? {
        counter.add()
        return try inner.search(request)
    }
    func searchStatistics(_ condition: SearchCondition) throws -> SearchStatistics? { try inner.searchStatistics(condition) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs {
        counter.add()
        return try inner.related(relationship, of: sources)
    }
    func value(named name: String) throws -> [UInt8]? { try inner.value(named: name) }
    func valueNames(prefix: String) throws -> [String] { try inner.valueNames(prefix: prefix) }
    func reserveIDs(_ entity: Entity, count: Int) throws -> Int64 { try inner.reserveIDs(entity, count: count) }
    func apply(_ changes: ChangeSet) throws { try inner.apply(changes) }
    func commit(_ durability: Durability) throws -> UInt64 { try inner.commit(durability) }
    func rollback() { inner.rollback() }
}
