import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Requests that are cancelled or reach a time limit while the server executes them.
@Suite(.withServer) struct InterruptionTests {
    /// A store whose people the server finds only after a long time.
    private struct SlowStore {
        let store: Store
        let name: String

        /// - Parameter fast: The number of people that are found immediately.
        init(fast: Int = 0) throws {
            let options = TestServer.options()
            name = options.schema
            let server = try TestServer.get()
            // The user's plans read the rows in order.
            try server.psql(
                "CREATE ROLE \(name) LOGIN SUPERUSER; ALTER ROLE \(name) SET enable_sort = off; ALTER ROLE \(name) SET enable_seqscan = off"
            )
            store = try Store(server.url(user: name, options: "application_name=\(name)"), options: options)
            try store.write(store.people((1...10).map { (Int64($0), "n\($0)", nil) }))
            let schema = options.schema
            try server.psql(
                """
                ALTER TABLE \(schema)."Person" RENAME TO people;
                CREATE FUNCTION \(schema).slow(id bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
                IF id > \(fast) THEN PERFORM pg_sleep(86400); END IF; RETURN true; END $$;
                CREATE VIEW \(schema)."Person" AS SELECT "objectID", CASE WHEN "objectID" > \(fast) THEN name ELSE repeat('x', 20000) END
                COLLATE "C" AS name, email, score, visits, firm
                FROM (SELECT * FROM \(schema).people WHERE \(schema).slow("objectID") ORDER BY "objectID" OFFSET 0) AS found
                """)
        }

        var people: FetchRequest { get throws { FetchRequest(try store.entity("Person")) } }

        /// Waits until the number of statements that the server executes for the store is one or zero.
        func waitForStatements(_ isRunning: Bool) throws {
            let sql =
                "SELECT count(*) FROM pg_stat_activity WHERE application_name = '\(name)' AND state = 'active' AND wait_event = 'PgSleep'"
            while try (TestServer.get().psql(sql) == "1") != isRunning {}
        }

        /// Cancels an interruption when the server executes a statement.
        func cancel(_ interruption: Interruption) -> () -> Result<Void, any Error> {
            inBackground {
                try waitForStatements(true)
                interruption.cancel()
            }
        }
    }

    /// Kinds of requests that wait for the server.
    enum Request: CaseIterable {
        case scan, count, groups, related

        func run(_ store: Store, _ transaction: any ReadTransaction) throws {
            let person = try store.entity("Person")
            switch self {
            case .scan: _ = try transaction.ids(FetchRequest(person))
            case .count: _ = try transaction.count(FetchRequest(person))
            case .groups:
                _ = try transaction.scanGroups(
                    AggregateRequest(person, groupBy: [store.field("Person", "name")], aggregates: [.count]))
            case .related: _ = try transaction.related(store.entity("Person").relationships[0], of: [1, 2])
            }
        }
    }

    @Test(arguments: Request.allCases)
    func cancelledRequestEndsOnTheServerAndTheSnapshotGoesOn(_ request: Request) throws {
        let slow = try SlowStore()
        let reader = try slow.store.backend.beginRead()
        let version = try reader.version
        for _ in 0..<2 {
            let interruption = Interruption()
            reader.interruption = interruption
            let cancelled = slow.cancel(interruption)
            let error = #expect(throws: StoreError.self) { try request.run(slow.store, reader) }
            #expect(error?.code == .cancelled)
            try cancelled().get()
            try slow.waitForStatements(false)
            // The commit of another transaction is not visible.
            let changes = ChangeSet(slow.store.schema)
            try changes.insert(slow.store.entity("Firm"), rowID: Int64.random(in: 1...1_000_000)) { $0.setText(0, "f") }
            try slow.store.write(changes)
            reader.interruption = nil
            #expect(try reader.ids(FetchRequest(slow.store.entity("Firm"))) == [])
            #expect(try reader.version == version)
        }
        reader.end()
    }

    @Test(arguments: Request.allCases)
    func requestEndsAtItsTimeLimit(_ request: Request) throws {
        let slow = try SlowStore()
        let reader = try slow.store.backend.beginRead()
        reader.interruption = Interruption(timeLimit: .milliseconds(50))
        let error = #expect(throws: StoreError.self) { try request.run(slow.store, reader) }
        #expect(error?.code == .timedOut)
        try slow.waitForStatements(false)
        reader.interruption = nil
        #expect(try reader.ids(FetchRequest(slow.store.entity("Firm"))) == [])
        reader.end()
    }

    @Test func writerKeepsItsChangesAfterACancelledRequest() throws {
        let slow = try SlowStore()
        let firm = try slow.store.entity("Firm")
        let writer = try slow.store.backend.beginWrite()
        for id in 1...3 as ClosedRange<Int64> {
            writer.interruption = Interruption()
            #expect(try writer.ids(FetchRequest(firm)).count == Int(id) - 1)
            let changes = ChangeSet(slow.store.schema)
            try changes.insert(firm, rowID: id) { $0.setText(0, "f") }
            try writer.apply(changes)
            let interruption = Interruption()
            writer.interruption = interruption
            let cancelled = slow.cancel(interruption)
            let error = #expect(throws: StoreError.self) { try writer.count(slow.people) }
            #expect(error?.code == .cancelled)
            try cancelled().get()
        }
        _ = try writer.commit(.full)
        #expect(try slow.store.ids(FetchRequest(firm)) == [1, 2, 3])
    }

    @Test func cursorIsCancelledWhileItWaitsForRows() throws {
        let slow = try SlowStore(fast: 5)
        let reader = try slow.store.backend.beginRead()
        let firms = try reader.fetch(FetchRequest(slow.store.entity("Firm")))
        let interruption = Interruption()
        reader.interruption = interruption
        let cursor = try reader.fetch(FetchRequest(slow.store.entity("Person"), sortKeys: []))
        let cancelled = slow.cancel(interruption)
        let error = #expect(throws: StoreError.self) { while try cursor.next() {} }
        #expect(error?.code == .cancelled)
        try cancelled().get()
        reader.interruption = nil
        #expect(try !firms.next())
        #expect(try reader.ids(FetchRequest(slow.store.entity("Firm"))) == [])
        reader.end()
    }

    @Test func endOfATransactionCancelsItsStatement() throws {
        let slow = try SlowStore(fast: 5)
        let reader = try slow.store.backend.beginRead()
        let cursor = try reader.fetch(try slow.people)
        try slow.waitForStatements(true)
        reader.end()
        try slow.waitForStatements(false)
        #expect(throws: StoreError.self) { try cursor.next() }
        #expect(try slow.store.ids(FetchRequest(slow.store.entity("Firm"))) == [])
    }

    @Test func statementThatIsTooLateEndsOnTheServer() throws {
        let slow = try SlowStore()
        var options = TestServer.options()
        options.schema = slow.name
        options.responseTimeout = .seconds(2)
        let impatient = try Store(TestServer.get().url(options: "application_name=\(slow.name)"), options: options)
        let error = #expect(throws: StoreError.self) { try impatient.read { try $0.count(slow.people) } }
        #expect(error?.code == .busy)
        try slow.waitForStatements(false)
    }
}
