import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Synchronization
import Testing

@testable import PolyStorePostgreSQL

/// The server of the tests; nil if none can be started.
enum TestServer {
    static let shared: PostgreSQLServer? = try? PostgreSQLServer.shared.get()
    /// Why the suites are skipped without a server.
    static let comment: Comment = {
        if case .failure(let error) = PostgreSQLServer.shared { return "No server of PostgreSQL can be started: \(error)" }
        return "A server of PostgreSQL runs."
    }()

    /// Returns the server.
    static func get() throws -> PostgreSQLServer { try PostgreSQLServer.shared.get() }

    /// A Boolean value that indicates whether the tests of the thorough ring run.
    static let isThorough = ProcessInfo.processInfo.environment["POLYSTORE_RING"] == "thorough"

    private static let count = Atomic<Int>(0)

    /// Returns options with a schema that no other test uses.
    static func options() -> PostgreSQLOptions {
        var options = PostgreSQLOptions()
        options.schema = "test_\(count.wrappingAdd(1, ordering: .relaxed).newValue)"
        // Practically without a limit: a loaded machine is not a failure.
        options.busyTimeout = .seconds(3600)
        options.connectTimeout = .seconds(600)
        return options
    }

    /// Opens a connection that knows no store.
    static func connect(_ url: String? = nil) throws -> Connection {
        let url = try StoreURL(try url ?? get().url())
        return try Connection(
            ServerAddress(url), location: url.serverLocation(defaultPort: 5432), connectTimeout: .seconds(600), responseTimeout: nil)
    }

    /// Waits until transactions wait for the locks of tables.
    static func waitForLock(in schema: String, count: Int = 1) throws {
        let sql =
            "SELECT \(count) = (SELECT count(DISTINCT l.pid) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
            + "WHERE NOT l.granted AND n.nspname = '\(schema)')"
        while try get().psql(sql) != "t" {}
    }
}

/// Starts a closure on a thread of its own. The returned closure waits for its result.
func inBackground<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> () -> Swift.Result<Result, any Error> {
    let result = Protected(Swift.Result<Result, any Error>?.none)
    Thread.detachNewThread {
        let found = Swift.Result(catching: body)
        result.signal { $0 = found }
    }
    return { result.wait(until: { $0 != nil }, { $0 ?? .failure(CancellationError()) }) }
}

extension Trait where Self == ConditionTrait {
    /// Skips a suite if no server can be started, and says why.
    static var withServer: Self { .enabled(if: TestServer.shared != nil, TestServer.comment) }
}

/// A model of people in companies.
func companySchema(isScoreIndexed: Bool = false, isTitleSearched: Bool = false) throws -> ResolvedSchema {
    try ResolvedSchema(
        SchemaDescription(
            name: "Company",
            entities: [
                EntityDescription(
                    name: "Person",
                    properties: [
                        .attribute(AttributeDescription(name: "name", type: .string, isIndexed: true)),
                        .attribute(AttributeDescription(name: "email", type: .string, isOptional: true, isUnique: true)),
                        .attribute(AttributeDescription(name: "score", type: .double, isOptional: true, isIndexed: isScoreIndexed)),
                        .attribute(AttributeDescription(name: "visits", type: .uint64, isOptional: true)),
                        .relationship(RelationshipDescription(name: "firm", destination: "Firm", isToMany: false, inverse: "people")),
                    ]),
                EntityDescription(
                    name: "Firm",
                    properties: [
                        .attribute(AttributeDescription(name: "title", type: .string)),
                        .relationship(RelationshipDescription(name: "people", destination: "Person", isToMany: true)),
                    ], searchIndexes: isTitleSearched ? [SearchIndexDescription(fields: ["title"])] : []),
            ]))
}

/// An open store.
struct Store {
    let schema: ResolvedSchema
    let backend: any StorageBackend
    private let configuration: StoreConfiguration

    init(
        _ url: String? = nil, options: PostgreSQLOptions = TestServer.options(), schema: ResolvedSchema? = nil, isReadOnly: Bool = false
    ) throws {
        self.schema = try schema ?? companySchema()
        configuration = try StoreConfiguration.postgreSQL(try url ?? TestServer.get().url(), options: options).readOnly(isReadOnly)
        backend = try configuration.open(schema: self.schema, configurationName: nil, logger: SilentLogger())
    }

    /// Opens the store once more.
    func reopened() throws -> any StorageBackend {
        try configuration.open(schema: schema, configurationName: nil, logger: SilentLogger())
    }

    func entity(_ name: String) throws -> Entity { try #require(schema.entity(named: name)) }

    func field(_ entity: String, _ name: String) throws -> FieldReference {
        FieldReference(try #require(try self.entity(entity).field(named: name)))
    }

    /// Returns a change set that inserts people.
    func people(_ rows: [(id: Int64, name: String, email: String?)]) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        for row in rows {
            try changes.insert(try entity("Person"), rowID: row.id) { record in
                record.setText(0, row.name)
                if let email = row.email { record.setText(1, email) }
            }
        }
        return changes
    }

    @discardableResult
    func write(_ changes: ChangeSet, _ durability: Durability = .relaxed) throws -> UInt64 {
        let transaction = try backend.beginWrite()
        try transaction.apply(changes)
        return try transaction.commit(durability)
    }

    func read<Result>(_ body: (any ReadTransaction) throws -> Result) throws -> Result {
        let transaction = try backend.beginRead()
        defer { transaction.end() }
        return try body(transaction)
    }

    func ids(_ request: FetchRequest) throws -> [Int64] { try read { try $0.ids(request) } }
}

extension ReadTransaction {
    func ids(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        return ids
    }
}

/// A transaction of a backend that evaluates nothing.
final class Unaided: ReadTransaction {
    private let inner: any ReadTransaction
    init(_ inner: any ReadTransaction) { self.inner = inner }

    var version: UInt64 { get throws { try inner.version } }
    func record(_ entity: Entity, rowID: Int64) throws -> RecordView? { try inner.record(entity, rowID: rowID) }
    func related(_ relationship: Relationship, of sources: [Int64]) throws -> RelatedIDs { try inner.related(relationship, of: sources) }
    func scan(_ request: FetchRequest) throws -> Scan {
        Scan(try inner.scan(FetchRequest(request.entity)).cursor, residual: .everything(of: request))
    }
    func end() {}
}
