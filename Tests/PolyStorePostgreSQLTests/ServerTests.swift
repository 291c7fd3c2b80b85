import PolyStoreBackend
import PolyStoreCore
import PolyStoreQuery
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Servers that are one of several, end and start again, or have several names.
@Suite(.withServer) struct ServerTests {
    private func escaped(_ folder: String) -> String { folder.replacingOccurrences(of: "/", with: "%2F") }

    @Test func ofSeveralHostsTheOneWithTheWantedAttributesIsUsed() throws {
        let server = try TestServer.get()
        let reading = try PostgreSQLServer(["default_transaction_read_only=on"])
        let hosts = "\(escaped(reading.folder)),\(escaped(server.folder))"
        let options = TestServer.options()
        let url = "postgresql://polystore@\(hosts)/postgres?target_session_attrs=read-write"
        let store = try Store(url, options: options)
        try store.write(store.people([(1, "a", nil)]), .full)
        #expect(try Store(options: options).ids(FetchRequest(store.entity("Person"))) == [1])
        // One of the servers is down, and the pool opens other connections.
        reading.kill()
        let readers = try (0..<3).map { _ in try store.backend.beginRead() }
        for reader in readers {
            #expect(try reader.ids(FetchRequest(store.entity("Person"))) == [1])
            reader.end()
        }
        #expect(try Store(url, options: options).ids(FetchRequest(store.entity("Person"))) == [1])
    }

    @Test func storeIsUsedFurtherAfterACrashOfItsServer() throws {
        let server = try PostgreSQLServer()
        let store = try Store(server.url())
        try store.write(store.people([(1, "a", nil)]), .full)
        let reader = try store.backend.beginRead()
        #expect(try reader.version == 1)
        server.kill()
        let error = #expect(throws: StoreError.self) { try reader.ids(FetchRequest(store.entity("Person"))) }
        #expect(error?.recovery == .connectionLost)
        reader.end()
        try server.restart()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
        try store.write(store.people([(2, "b", nil)]), .full)
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1, 2])
    }

    @Test func connectionThatEndedWhileItWasIdleIsReplaced() throws {
        var options = TestServer.options()
        options.idleCheckTime = .zero
        let store = try Store(TestServer.get().url(options: "application_name=\(options.schema)"), options: options)
        try store.write(store.people([(1, "a", nil)]))
        try TestServer.get().psql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = '\(options.schema)'")
        try store.write(store.people([(2, "b", nil)]))
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1, 2])
    }

    @Test func timeoutsOfTheURLAreThoseOfTheTransactions() throws {
        let url = try TestServer.get().url(options: "statementTimeout=123000&lockTimeout=45000&idleTransactionTimeout=67000")
        let store = try Store(url)
        let names = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
        let sql = "SELECT " + names.map { "current_setting('\($0)')" }.joined(separator: " || ' ' || ")
        let reader = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
        #expect(try reader.session.rows(sql).text(0, 0) == "123s 45s 67s")
        reader.end()
        let writer = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
        #expect(try writer.session.rows(sql).text(0, 0) == "123s 45s 67s")
        writer.rollback()
    }

    @Test func transactionThatIsIdleForTooLongEnds() throws {
        let store = try Store(TestServer.get().url(options: "idleTransactionTimeout=1"))
        let reader = try store.backend.beginRead()
        _ = try? reader.version
        var error: StoreError?
        while error == nil {
            do { _ = try reader.ids(FetchRequest(store.entity("Person"))) } catch let found as StoreError { error = found }
            Deadline.pause(milliseconds: 5)
        }
        #expect(error?.recovery == .connectionLost)
        reader.end()
    }

    @Test func namesOfOneStoreHaveOneIdentity() throws {
        let server = try TestServer.get()
        let options = TestServer.options()
        try server.psql("CREATE ROLE \(options.schema) LOGIN SUPERUSER")
        func identity(_ url: String, _ options: PostgreSQLOptions) throws -> String? {
            try StoreConfiguration.postgreSQL(url, options: options).remote?.identity()
        }
        let one = try #require(try identity(server.url(), options))
        #expect(try identity(server.url(user: options.schema), options) == one)
        #expect(try identity("postgresql://polystore@\(escaped(server.folder)),%2Fnowhere/postgres", options) == one)
        #expect(try identity(server.url(), TestServer.options()) != one)
        try server.psql("CREATE DATABASE \(options.schema)")
        #expect(try identity(server.url(options.schema), options) != one)
        let other = try PostgreSQLServer()
        #expect(try identity(other.url(), options) != one)
    }

    @Test func serverWithACopyOfTheDataIsAnotherOne() throws {
        let first = try PostgreSQLServer()
        first.kill()
        let second = try PostgreSQLServer(copying: first)
        try first.restart()
        let options = TestServer.options()
        let identities = try [first, second].map { try StoreConfiguration.postgreSQL($0.url(), options: options).remote?.identity() }
        #expect(identities[0] != nil && identities[0] != identities[1])
    }

    @Test func stackHasAStoreOnceUnderAllItsNames() throws {
        let server = try TestServer.get()
        let options = TestServer.options()
        try server.psql("CREATE ROLE \(options.schema) LOGIN SUPERUSER")
        let stack = try DataStack(Schema("Company 1", Person.self, Department.self, Project.self))
        let store = try stack.addStore(.postgreSQL(server.url(), options: options))
        #expect(try stack.addStore(.postgreSQL(server.url(user: options.schema), options: options)) === store)
        #expect(stack.stores.count == 1)
    }

    @Test func userNamesTheDatabaseAndTheServiceTheStore() throws {
        func location(_ url: String) throws -> String { try StoreConfiguration.postgreSQL(url).location }
        #expect(try location("postgresql://jane@host") == location("postgresql://bob@host/jane"))
        #expect(try location("postgresql://jane@host") != location("postgresql://bob@host"))
        #expect(try location("postgresql:///?service=a") != location("postgresql:///?service=b"))
    }

    @Test func snapshotsThatAreNotReadGiveTheirConnectionsBack() throws {
        var options = TestServer.options()
        options.maximumConnections = 4
        let store = try Store(options: options)
        try store.write(store.people([(1, "a", nil)]))
        #expect(store.backend.capabilities.mostSnapshots == 3)
        let backend = store.backend.readingAhead(sessions: SnapshotSessions())
        // Without giving back, the fifth one would wait for a connection.
        let readers = try (0..<20).map { _ in
            let reader = try backend.beginRead()
            #expect(try reader.count(FetchRequest(store.entity("Person"))) == 1)
            // As the object layer does at the end of each read.
            let session = try #require((reader as? ServerSnapshot)?.session)
            session.release()
            return reader
        }
        try store.write(store.people([(2, "b", nil)]))
        for reader in readers { reader.end() }
    }
}
