import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Copies of a store in another schema or another database.
@Suite(.withServer) struct CopyTests {
    private struct Stop: Error {}

    /// Returns a store with people, and the URL of a schema that no other test uses.
    private func prepared(_ count: Int64 = 5000) throws -> (store: Store, schema: String, url: String) {
        let store = try Store()
        try store.write(store.people((1...count).map { ($0, "name \($0)", $0 % 2 == 0 ? "mail \($0)" : nil) }))
        let schema = TestServer.options().schema
        return (store, schema, try TestServer.get().url(options: "schema=\(schema)"))
    }

    private func schemaCount(_ name: String, database: String = "postgres") throws -> String {
        try TestServer.get().psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(name)'", database: database)
    }

    @Test func copyInAnotherDatabaseIsAStore() throws {
        let (store, schema, _) = try prepared()
        let server = try TestServer.get()
        try server.psql("CREATE DATABASE copies TEMPLATE template0 ENCODING 'UTF8'")
        let url = server.url("copies", options: "schema=\(schema)")
        try store.backend.copy(to: url)
        let copy = try Store(url)
        let request = FetchRequest(try copy.entity("Person"))
        #expect(try copy.ids(request) == store.ids(request))
        #expect(try copy.backend.verify() == [])
        // The constraints exist there too.
        let error = #expect(throws: StoreError.self) { try copy.write(copy.people([(9000, "n", "mail 2")])) }
        #expect(error?.attribute == "email")
        try copy.backend.close()
        // The store created the schema, which is removed with it.
        try StoreConfiguration.postgreSQL(url).erase()
        #expect(try schemaCount(schema, database: "copies") == "0")
    }

    @Test func nothingRemainsOfACopyThatIsEnded() throws {
        let (store, schema, url) = try prepared()
        for activity in ["polystore_state", "Person", "indexes"] {
            var calls = 0
            #expect(throws: Stop.self) {
                try store.backend.copy(to: url) { progress in
                    guard progress.activity == activity else { return }
                    calls += 1
                    // Of the rows, in their middle.
                    if activity != "Person" || calls == 2 { throw Stop() }
                }
            }
            #expect(try schemaCount(schema) == "0")
            // The connections of the store can be used again.
            #expect(try store.ids(FetchRequest(store.entity("Person"))).count == 5000)
        }
        try store.backend.copy(to: url)
        #expect(try schemaCount(schema) == "1")
    }

    @Test func copyReplacesNothing() throws {
        let (store, schema, url) = try prepared(1)
        let server = try TestServer.get()
        try server.psql("CREATE SCHEMA \(schema); CREATE TABLE \(schema).theirs (a int)")
        let error = #expect(throws: StoreError.self) { try store.backend.copy(to: url) }
        #expect(error?.code == .io)
        #expect(error?.message.contains(schema) == true)
        try server.psql("DROP TABLE \(schema).theirs")
        // An empty schema stays that of the user who created it.
        try store.backend.copy(to: url)
        try StoreConfiguration.postgreSQL(url).erase()
        #expect(try schemaCount(schema) == "1")
    }

    @Test func fileIsRefusedAndTheURLIsNamed() throws {
        let (store, _, _) = try prepared(1)
        for location in ["/tmp/copy", "sqlite:copy.sqlite", ""] {
            let error = #expect(throws: StoreError.self) { try store.backend.copy(to: location) }
            #expect(error?.code == .misuse, "\(location)")
        }
    }

    /// Two copies to the same place at the same time: one is complete, and the other is refused.
    @Test func copiesToOnePlaceDoNotMix() throws {
        let (store, _, url) = try prepared()
        var other: (() -> Result<Void, any Error>)?
        try store.backend.copy(to: url) { progress in
            if other == nil { other = inBackground { try store.backend.copy(to: url) } }
        }
        let outcome = try #require(other?())
        let error = #expect(throws: StoreError.self) { try outcome.get() }
        #expect(error?.code == .io)
        #expect(try Store(url).ids(FetchRequest(store.entity("Person"))).count == 5000)
    }
}
