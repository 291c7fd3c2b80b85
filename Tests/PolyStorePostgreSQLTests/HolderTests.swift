import Foundation
import PolyStoreBackend
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// What keeps the server from removing earlier versions of rows: the statistics and the log name it.
@Suite(.withServer) struct HolderTests {
    /// A logger that keeps the messages.
    private final class Messages: StoreLogger {
        private let kept = Protected<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func isEnabled(_ level: LogLevel) -> Bool { level >= .warning }
        func log(_ level: LogLevel, _ message: String, file: StaticString, line: UInt, function: StaticString) {
            kept.withLock { $0.append(message) }
        }
    }

    /// Begins a transaction that reads, on a connection of its own, and returns the connection with its process.
    private func reading(_ url: String? = nil) throws -> (Connection, Int64) {
        let connection = try TestServer.connect(url)
        let rows = try connection.run([
            .once("BEGIN ISOLATION LEVEL REPEATABLE READ"), .once("SELECT pg_backend_pid()::bigint"),
        ])
        return (connection, try #require(rows.last?.integer(0, 0)))
    }

    /// A server of its own: the transactions of other tests would be listed.
    private static let server = Result { try PostgreSQLServer(["max_prepared_transactions=4"]) }

    @Test func holdersAreListed() throws {
        let server = try Self.server.get()
        try server.psql("CREATE DATABASE listed")
        let url = server.url("listed", options: "application_name=holders")
        let store = try Store(url)
        #expect(try store.backend.snapshotHolders() == [])
        let (connection, process) = try reading(url)
        let found = try #require(try store.backend.snapshotHolders()?.first)
        #expect(found.kind == .transaction)
        #expect(found.process == process)
        #expect(found.name == "holders")
        #expect(found.user == "polystore")
        #expect(found.state == "idle in transaction")
        #expect(try #require(found.age) >= .zero)
        #expect("\(found)".hasPrefix("transaction of process \(process) (holders, user polystore, idle in transaction, "))
        try connection.run([.once("COMMIT")])
        #expect(try store.backend.snapshotHolders() == [])
        // A snapshot of the store itself is one too.
        let reader = try store.backend.beginRead()
        _ = try reader.version
        #expect(try store.backend.snapshotHolders()?.count == 1)
        reader.end()
        // The end of the snapshot is not waited for.
        while try store.backend.snapshotHolders() != [] {}
        try server.psql(
            "CREATE TABLE other (number integer); BEGIN; INSERT INTO other VALUES (1); PREPARE TRANSACTION 'both'", database: "listed")
        let prepared = try #require(try store.backend.snapshotHolders()?.first)
        #expect((prepared.kind, prepared.name, prepared.user) == (.preparedTransaction, "both", "polystore"))
        #expect(prepared.process == nil)
        try server.psql("ROLLBACK PREPARED 'both'", database: "listed")
        #expect(try store.backend.snapshotHolders() == [])
    }

    @Test func oldTransactionIsLoggedOnce() throws {
        let server = try Self.server.get()
        try server.psql("CREATE DATABASE logged")
        var options = TestServer.options()
        (options.transactionWarningAge, options.holderCheckTime) = (.zero, .zero)
        let logger = Messages()
        let schema = try companySchema()
        let backend = try StoreConfiguration.postgreSQL(server.url("logged"), options: options).open(
            schema: schema, configurationName: nil, logger: logger)
        let person = try #require(schema.entity(named: "Person"))
        var lastID = 0 as Int64
        func commit() throws {
            lastID += 1
            let changes = ChangeSet(schema)
            try changes.insert(person, rowID: lastID) { $0.setText(0, "n") }
            let writer = try backend.beginWrite()
            try writer.apply(changes)
            _ = try writer.commit(.relaxed)
        }
        for _ in 0..<3 { try commit() }
        #expect(logger.all == [])
        let (connection, process) = try reading(server.url("logged"))
        // The response is read with the next statements of the connection.
        for _ in 0..<5 { try commit() }
        #expect(logger.all.count == 1)
        #expect(logger.all.first?.contains("transaction of process \(process) (") ?? false)
        try connection.run([.once("COMMIT")])
        for _ in 0..<3 { try commit() }
        let (another, next) = try reading(server.url("logged"))
        for _ in 0..<3 { try commit() }
        #expect(logger.all.count == 2)
        #expect(logger.all.last?.contains("process \(next) (") ?? false)
        try another.run([.once("COMMIT")])
    }

    @Test func youngTransactionsAreNotLogged() throws {
        let server = try Self.server.get()
        try server.psql("CREATE DATABASE young")
        var options = TestServer.options()
        (options.transactionWarningAge, options.holderCheckTime) = (.seconds(100_000), .zero)
        let logger = Messages()
        let schema = try companySchema()
        let backend = try StoreConfiguration.postgreSQL(server.url("young"), options: options).open(
            schema: schema, configurationName: nil, logger: logger)
        let (connection, _) = try reading(server.url("young"))
        for _ in 0..<4 { _ = try backend.beginWrite().commit(.relaxed) }
        #expect(logger.all == [])
        try connection.run([.once("COMMIT")])
    }

    @Test func detailsOfOthersNeedRights() throws {
        let server = try Self.server.get()
        try server.psql("CREATE DATABASE limited")
        try server.psql("CREATE USER clerk; GRANT CREATE ON DATABASE limited TO clerk")
        let store = try Store(server.url("limited", user: "clerk"))
        let (foreign, other) = try reading(server.url("limited"))
        let hidden = try #require(try store.backend.snapshotHolders()?.first)
        #expect(hidden.process == other && hidden.user == "polystore")
        #expect(hidden.age == nil && hidden.state == nil)
        let (connection, own) = try reading(server.url("limited", user: "clerk"))
        #expect(try store.backend.snapshotHolders()?.first { $0.process == own }?.age != nil)
        try server.psql("GRANT pg_read_all_stats TO clerk")
        #expect(try store.backend.snapshotHolders()?.first { $0.process == other }?.age != nil)
        for connection in [foreign, connection] { try connection.run([.once("COMMIT")]) }
    }
}
