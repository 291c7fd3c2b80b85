import PolyStoreBackend
import PolyStoreCore
import PolyStoreQuery
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Statements that change tables while others have locked them: the wait is limited, and the error names the table, the sessions and the way out.
@Suite(.withServer) struct LockHolderTests {
    /// A change of tables that needs locks.
    enum Operation: CaseIterable {
        case migration, secondMigration, removalOfAnIndex, addition, reset, erasure
    }

    /// A session of another program with a transaction, and the number of its process.
    private struct Session {
        let connection: Connection
        let process: Int64

        init(_ statements: String..., user: String = "polystore") throws {
            connection = try TestServer.connect(TestServer.get().url(user: user, options: "application_name=Ledger"))
            process = try #require(connection.rows("SELECT pg_backend_pid()").integer(0, 0))
            try connection.run([.once("BEGIN")] + statements.map { .once($0) })
        }
    }

    private func brief(_ options: PostgreSQLOptions) -> PostgreSQLOptions {
        var options = options
        options.busyTimeout = .milliseconds(100)
        options.renamingTime = .milliseconds(10)
        return options
    }

    /// Returns the error of an operation, the session that prevents it, and the table that it has locked.
    private func failure(of operation: Operation, _ options: PostgreSQLOptions) throws -> (StoreError?, Session, table: String) {
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        let url = try TestServer.get().url()
        let schema = options.schema
        func attempt(_ body: () throws -> Void) -> StoreError? { #expect(throws: StoreError.self) { try body() } }
        switch operation {
        case .migration:
            let session = try Session("LOCK TABLE \(schema).\"Person\" IN ACCESS EXCLUSIVE MODE")
            let change = try MigrationTests.change(store.schema)
            let patient = try Store(options: brief(options))
            return (attempt { _ = try patient.backend.beginMigration(change) }, session, "Person")
        case .secondMigration:
            let session = try Session("SELECT FROM \(schema).\"Person\"")
            let migrating = try Store(options: brief(options))
            try migrating.backend.beginMigration(MigrationTests.change(store.schema)).commit()
            let staged = try Store(options: brief(options), schema: MigrationTests.target())
            let change = try SchemaChange(
                identifier: "again", source: staged.schema, target: MigrationTests.target(named: "Human"),
                entities: [.empty(rowIDsOf: nil)],
                links: [])
            return (attempt { _ = try staged.backend.beginMigration(change) }, session, "Person")
        case .removalOfAnIndex:
            try Store(options: options, schema: companySchema(isScoreIndexed: true)).backend.close()
            let session = try Session("SELECT FROM \(schema).\"Person\"")
            return (attempt { _ = try Store(options: brief(options)) }, session, "Person")
        case .addition:
            let session = try Session("LOCK TABLE \(schema).polystore_lock IN EXCLUSIVE MODE")
            return (
                attempt { _ = try Store(options: brief(options), schema: companySchema(isScoreIndexed: true)) }, session, "polystore_lock"
            )
        case .reset:
            let session = try Session("SELECT FROM \(schema).polystore_state")
            let configuration = try StoreConfiguration.postgreSQL(url, options: brief(options)).resettingOnModelMismatch()
            return (
                attempt { _ = try configuration.open(schema: MigrationTests.target(), configurationName: nil, logger: SilentLogger()) },
                session, "polystore_state"
            )
        case .erasure:
            let session = try Session("SELECT FROM \(schema).polystore_metadata")
            return (attempt { try StoreConfiguration.postgreSQL(url, options: brief(options)).erase() }, session, "polystore_metadata")
        }
    }

    @Test(arguments: Operation.allCases)
    func errorNamesTheTableTheSessionAndTheWayOut(_ operation: Operation) throws {
        let options = TestServer.options()
        let (error, session, table) = try failure(of: operation, options)
        #expect(error?.code == .busy)
        let parts = ["process \(session.process) (application \"Ledger\", user polystore, idle in transaction) has locked", table]
        for part in parts + ["pg_terminate_backend(\(session.process))", "try again"] {
            #expect(error?.message.contains(part) == true, "\(part): \(error?.message ?? "")")
        }
        // Nothing was changed, and the way out is one.
        try TestServer.get().psql("SELECT pg_terminate_backend(\(session.process), 600000)")
        let isMigrated = operation == .secondMigration
        let store = try Store(options: options, schema: isMigrated ? MigrationTests.target() : nil)
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
        #expect(try store.backend.verify().isEmpty)
    }

    /// A writer in the same schema prevents the beginning of a migration. It is a session of this library.
    @Test func migrationNamesTheWriterThatItWaitsFor() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let other = try Store(TestServer.get().url(options: "application_name=Import"), options: options)
        let writer = try other.backend.beginWrite()
        // Its first request begins it.
        #expect(try writer.version == 0)
        let migrating = try Store(options: brief(options))
        let error = #expect(throws: StoreError.self) { try migrating.backend.beginMigration(MigrationTests.change(store.schema)) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("application \"Import\"") == true)
        #expect(error?.message.contains("polystore_lock") == true)
        writer.rollback()
        try store.backend.beginMigration(MigrationTests.change(store.schema)).rollback()
    }

    /// The server does not show the state of the sessions of other users to everyone.
    @Test func sessionOfAnotherUserIsNamedWithoutItsState() throws {
        let options = TestServer.options()
        let server = try TestServer.get()
        try server.psql("CREATE ROLE \(options.schema) LOGIN; GRANT CREATE ON DATABASE postgres TO \(options.schema)")
        let url = server.url(user: options.schema)
        try Store(url, options: options).backend.close()
        let session = try Session("SELECT FROM \(options.schema).polystore_metadata")
        let error = #expect(throws: StoreError.self) { try StoreConfiguration.postgreSQL(url, options: brief(options)).erase() }
        #expect(
            error?.message.contains("process \(session.process) (application \"Ledger\", user polystore) has locked") == true,
            "\(error?.message ?? "")")
    }
}
