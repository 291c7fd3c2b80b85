import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreSQLite
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Objects in a store on a server: what the guide to PostgreSQL describes.
@Suite(.withServer) struct ObjectTests {
    private static let models = Schema("Company 1", Person.self, Department.self, Project.self)

    /// The values of a person that are copied.
    private struct Values: Sendable {
        let email: String
        let age: Int
        let department: ObjectID<Department>?
    }

    private func stack(_ options: PostgreSQLOptions) throws -> DataStack {
        let stack = try DataStack(Self.models)
        try stack.addStore(.postgreSQL(TestServer.get().url(), options: options))
        return stack
    }

    /// Returns a stack with people of five departments.
    private func filled(_ stack: DataStack, people: Int) throws -> DataStack {
        try stack.performAndWait { transaction in
            let departments = try (0..<5).map { number in
                let department = try transaction.create(Into<Department>())
                department.title = "department \(number)"
                return department
            }
            for number in 0..<people {
                let person = try transaction.create(Into<Person>())
                person.email = "person \(number)"
                person.age = number % 100
                person.department = number % 6 < 5 ? departments[number % 6] : nil
            }
        }
        return stack
    }

    /// The settings with the identity of the server, the store, the list of its versions, the row. The start of a connection is not counted, it has no statement.
    @Test func openingAndTheFirstObjectTakeFourRoundTrips() throws {
        let proxy = try ConnectionProxy(TestServer.get())
        defer { proxy.stop() }
        let options = TestServer.options()
        try filled(stack(options), people: 1).closeAndWait()
        // The identity of the server is not known under the name of the proxy.
        let count = try proxy.awaitedResponses {
            let stack = try DataStack(Self.models)
            try stack.addStore(.postgreSQL(proxy.url(), options: options))
            #expect(try stack.readAndWait { try $0.fetchOne(From<Person>())?.email } == "person 0")
            try stack.closeAndWait()
        }
        // On a slow machine the first connection is closed before the opening needs it, and another one has settings too.
        #expect(count == 3 + proxy.connectionCount)
    }

    /// What a store contains, as texts in order.
    private func contents(_ stack: DataStack) throws -> [String] {
        try stack.readAndWait { context in
            try context.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { "\($0.email) \($0.age) \($0.department?.title ?? "-")" }
        }
    }

    @Test func statisticsNameTheTransactionsThatHoldEarlierVersions() throws {
        let stack = try stack(TestServer.options())
        let store = try #require(stack.stores.first)
        let connection = try TestServer.connect(TestServer.get().url(options: "application_name=reports"))
        let process = try #require(
            try connection.run([.once("BEGIN ISOLATION LEVEL REPEATABLE READ"), .once("SELECT pg_backend_pid()::bigint")]).last?.integer(
                0, 0))
        let statistics = try store.statisticsAndWait()
        // Other tests use the same database.
        let holder = try #require(statistics.holders?.first { $0.process == process })
        #expect(holder.name == "reports")
        #expect("\(statistics)".contains("; held by the transaction of process \(process) (reports, user polystore, idle in transaction, "))
        #expect(try JSONDecoder().decode(StoreStatistics.self, from: JSONEncoder().encode(statistics)) == statistics)
        try connection.run([.once("COMMIT")])
        #expect(try store.statisticsAndWait().holders?.contains { $0.process == process } == false)
    }

    /// The program of the guide, with a batch that is large enough for a copy of rows.
    @Test func storeOfSQLiteIsMovedToAServer() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + suffix) } }
        let sqlite = try DataStack(Self.models)
        try sqlite.addStore(.sqlite(file: file))
        let old = try filled(sqlite, people: 25_000)
        let new = try stack(TestServer.options())
        try old.readAndWait { context in
            let titles = try context.fetchAll(From<Department>()).map { ($0.objectID, $0.title) }
            let departments = try new.performAndWait { transaction in
                var ids: [ObjectID<Department>: ObjectID<Department>] = [:]
                for (id, title) in titles {
                    let department = try transaction.create(Into<Department>())
                    department.title = title
                    ids[id] = department.objectID
                }
                return ids
            }
            try context.fetchInBatches(From<Person>(), size: 20_000) { people in
                let batch = people.map { Values(email: $0.email, age: $0.age, department: $0.department?.objectID) }
                try new.performAndWait { transaction in
                    for values in batch {
                        let person = try transaction.create(Into<Person>())
                        person.email = values.email
                        person.age = values.age
                        guard let id = values.department.flatMap({ departments[$0] }) else { continue }
                        person.department = try transaction.object(with: id)
                    }
                }
            }
        }
        #expect(try contents(new) == contents(old))
    }

    @Test func storeIsBackedUpToAnotherSchema() async throws {
        let stack = try filled(stack(TestServer.options()), people: 100)
        let options = TestServer.options()
        let url = try TestServer.get().url(options: "schema=\(options.schema)")
        let store = try #require(stack.stores.first)
        try await store.backUp(to: url)
        #expect(try contents(self.stack(options)) == contents(stack))
        // The place is taken now.
        await #expect(throws: StoreError.self) { try await store.backUp(to: url) }
        #expect(throws: StoreError.self) { try store.backUpAndWait(to: url) }
        // A run is named without the URL, which can contain a password.
        let run = store.startBackUp(to: url)
        let error = await #expect(throws: StoreError.self) { try await run.value }
        #expect(error?.code == .io)
    }

    @Test func refusedObjectOfALargeTransactionIsNamed() throws {
        let stack = try filled(stack(TestServer.options()), people: 10)
        let error = #expect(throws: StoreError.self) {
            try stack.performAndWait { transaction in
                for number in 0..<25_000 {
                    let person = try transaction.create(Into<Person>())
                    person.email = number == 20_000 ? "person 3" : "new \(number)"
                }
            }
        }
        #expect(error?.code == .constraint)
        #expect(error?.attribute == "email")
        #expect(error?.message.contains("person 3") == true)
        #expect(try contents(stack).count == 10)
    }

    @MainActor
    @Test func viewLeftIdleForAnHourPinsNothing() throws {
        let options = TestServer.options()
        let stack = try filled(stack(options), people: 10)
        let time = Protected<UInt64>(1)
        stack.core.sessions.clock.exchange { time.withLock { $0 } }
        // The timer of the stack does not follow this clock.
        stack.snapshotIdleTime = .seconds(100_000)
        func holdsLocks() throws -> Bool {
            try TestServer.get().psql(
                "SELECT count(*) > 0 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace "
                    + "WHERE n.nspname = '\(options.schema)'") == "t"
        }
        #expect(try stack.view.fetchCount(From<Person>()) == 10)
        #expect(try holdsLocks())
        stack.snapshotIdleTime = .seconds(10)
        time.withLock { $0 += 3600 * 1_000_000_000 }
        stack.core.sessions.giveBackIdle()
        // The end of a snapshot is not waited for.
        while try holdsLocks() {}
        #expect(try stack.view.fetchCount(From<Person>()) == 10)
    }
}
