import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Stores on a server: what other clients see, what is refused, and how many round trips it takes.
@Suite(.withServer) struct StoreTests {
    @Test func tablesHaveTheNamesOfTheModel() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", "j@x"), (2, "Bob", nil)]))
        let found = try TestServer.get().psql(
            "SELECT \"objectID\", name, coalesce(email, '-') FROM \(options.schema).\"Person\" ORDER BY 1")
        #expect(found == "1|Jane|j@x\n2|Bob|-")
        #expect(try TestServer.get().psql("SHOW search_path") == "\"$user\", public")
    }

    @Test func namesAreShortenedAndListed() throws {
        let options = TestServer.options()
        let long = String(repeating: "long", count: 30)
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Long",
                entities: [
                    EntityDescription(
                        name: long,
                        properties: [
                            .attribute(AttributeDescription(name: long + "a", type: .int64)),
                            .attribute(AttributeDescription(name: long + "b", type: .int64)),
                            .attribute(AttributeDescription(name: "xmin", type: .int64)),
                        ])
                ]))
        let store = try Store(options: options, schema: schema)
        let changes = ChangeSet(schema)
        try changes.insert(schema.entities[0], rowID: 1) { record in for field in 0..<3 { record.setInteger(field, Int64(field)) } }
        try store.write(changes)
        #expect(try store.read { try $0.record(schema.entities[0], rowID: 1)?.integer(1) } == 1)
        let names = try TestServer.get().psql("SELECT count(*), max(length(name)) FROM \(options.schema).polystore_names")
        #expect(names == "4|63")
    }

    @Test func schemaOfOthersIsRefusedAndLeftAlone() throws {
        let options = TestServer.options()
        let server = try TestServer.get()
        try server.psql("CREATE SCHEMA \(options.schema); CREATE TABLE \(options.schema).theirs (a int)")
        let error = #expect(throws: StoreError.self) { try Store(options: options) }
        #expect(error?.code == .notAStore)
        let configuration = try StoreConfiguration.postgreSQL(server.url(), options: options)
        #expect(try !configuration.exists())
        #expect(throws: StoreError.self) { try configuration.erase() }
        #expect(try server.psql("SELECT count(*) FROM \(options.schema).theirs") == "0")
    }

    @Test func erasingRemovesTheStoreAlone() throws {
        let options = TestServer.options()
        let server = try TestServer.get()
        let configuration = try StoreConfiguration.postgreSQL(server.url(), options: options)
        #expect(try !configuration.exists())
        let store = try Store(options: options)
        try store.backend.close()
        try server.psql("CREATE TABLE \(options.schema).theirs (a int)")
        #expect(try configuration.exists())
        try configuration.erase()
        #expect(try !configuration.exists())
        #expect(try server.psql("SELECT count(*) FROM \(options.schema).theirs") == "0")
    }

    @Test(arguments: [true, false])
    func erasingRemovesTheSchemaIfTheStoreCreatedIt(_ isGiven: Bool) throws {
        let options = TestServer.options()
        let server = try TestServer.get()
        if isGiven { try server.psql("CREATE SCHEMA \(options.schema)") }
        try Store(options: options).backend.close()
        let other = try ResolvedSchema(SchemaDescription(name: "Other", entities: [EntityDescription(name: "Thing", properties: [])]))
        let configuration = try StoreConfiguration.postgreSQL(server.url(), options: options)
        // A store that is emptied for another model remembers it.
        try configuration.resettingOnModelMismatch().open(schema: other, configurationName: nil, logger: SilentLogger()).close()
        try configuration.erase()
        #expect(try server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(options.schema)'") == (isGiven ? "1" : "0"))
    }

    @Test func erasingLeavesTheSchemaPublic() throws {
        let server = try TestServer.get()
        try server.psql("CREATE DATABASE erasing TEMPLATE template0")
        try server.psql("DROP SCHEMA public", database: "erasing")
        var options = TestServer.options()
        options.schema = "public"
        let configuration = try StoreConfiguration.postgreSQL(server.url("erasing"), options: options)
        try Store(server.url("erasing"), options: options).backend.close()
        try configuration.erase()
        #expect(try server.psql("SELECT count(*) FROM pg_namespace WHERE nspname = 'public'", database: "erasing") == "1")
    }

    @Test func idleTransactionsAreNotEndedByTheServer() throws {
        let server = try TestServer.get()
        try server.psql(
            "CREATE ROLE hasty LOGIN; ALTER ROLE hasty SET idle_in_transaction_session_timeout = 1; GRANT CREATE ON DATABASE postgres TO hasty"
        )
        let store = try Store(server.url(user: "hasty"))
        let transaction = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
        let limit = try transaction.session.rows("SELECT current_setting('idle_in_transaction_session_timeout')")
        #expect(limit.text(0, 0) == "0")
        transaction.end()
    }

    @Test func databaseInAnotherEncodingIsRefused() throws {
        let server = try TestServer.get()
        try server.psql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
        let error = #expect(throws: StoreError.self) { try Store(server.url("latin")) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("LATIN1") == true)
    }

    @Test func missingRightsAreNamed() throws {
        let server = try TestServer.get()
        let options = TestServer.options()
        try server.psql("CREATE ROLE poor LOGIN; CREATE ROLE reader LOGIN")
        let creating = #expect(throws: StoreError.self) { try Store(server.url(user: "poor"), options: options) }
        #expect(creating?.code == .io)
        #expect(creating?.message.contains("CREATE") == true)
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        try server.psql(
            "GRANT USAGE ON SCHEMA \(options.schema) TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA \(options.schema) TO reader")
        let writing = #expect(throws: StoreError.self) { try Store(server.url(user: "reader"), options: options) }
        #expect(writing?.code == .readOnly)
        #expect(writing?.message.contains("Person") == true)
        let reading = try Store(server.url(user: "reader"), options: options, isReadOnly: true)
        #expect(try reading.ids(FetchRequest(reading.entity("Person"))) == [1])
        // A schema that exists is enough for a user without the right to create one.
        let given = TestServer.options()
        try server.psql("CREATE SCHEMA \(given.schema); GRANT ALL ON SCHEMA \(given.schema) TO poor")
        let poor = try Store(server.url(user: "poor"), options: given)
        try poor.write(poor.people([(1, "Jane", nil)]))
        try poor.backend.compact()
    }

    @Test func compactingTablesOfOthersIsRefused() throws {
        let server = try TestServer.get()
        let options = TestServer.options()
        let schema = options.schema
        try Store(options: options).backend.close()
        try server.psql(
            "CREATE ROLE writer LOGIN; GRANT USAGE ON SCHEMA \(schema) TO writer; GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO writer; "
                + "REVOKE ALL ON \(schema).polystore_lock FROM writer; GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema).polystore_lock TO writer"
        )
        let store = try Store(server.url(user: "writer"), options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        // From PostgreSQL 17 on, all rights on a table contain that to compact it.
        let error = #expect(throws: StoreError.self) { try store.backend.compact() }
        #expect(error?.message.contains("writer") == true)
        #expect(error?.message.contains("polystore_lock") == true)
    }

    @Test func uniqueTextThatIsTooLongIsRefusedByName() throws {
        let store = try Store()
        // Not compressible.
        var generator = SystemRandomNumberGenerator()
        let text = String((0..<6000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &generator))) })
        let error = #expect(throws: StoreError.self) { try store.write(store.people([(1, "a", "short"), (2, "b", text)])) }
        #expect(error?.code == .invalidValue)
        #expect(error?.entity == "Person")
        #expect(error?.attribute == "email")
        #expect(error?.rowID == 2)
        // A plain index contains the beginning alone.
        try store.write(store.people([(1, text, nil), (2, text + "a", nil)]))
        let name = try store.field("Person", "name")
        #expect(try store.ids(FetchRequest(store.entity("Person"), predicate: .compare(name, .equal, .text(text)))) == [1])
        #expect(try store.ids(FetchRequest(store.entity("Person"), sortKeys: [SortKey(name, ascending: false)])) == [2, 1])
    }

    @Test func errorNamesAnObjectIfSeveralAreRefused() throws {
        let store = try Store()
        try store.write(store.people([(1, "a", "x"), (2, "b", "y")]))
        let changes = try store.people([(1, "c", "z")])
        var mask = FieldMask()
        mask.insert(1)
        // The server finds the equal value before the taken row id.
        try changes.update(store.entity("Person"), rowID: 2, mask: mask) { $0.setText(1, "x") }
        let error = #expect(throws: StoreError.self) { try store.write(changes) }
        #expect(error?.code == .constraint)
        #expect(error?.entity == "Person")
        #expect(error?.rowID == 1)
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1, 2])
    }

    @Test func valuesOfTheClaimedSizeAreKept() throws {
        let store = try Store()
        let size = store.backend.capabilities.largestValue
        try store.write(store.people([(1, String(repeating: "x", count: size), nil)]))
        #expect(try store.read { try $0.record(store.entity("Person"), rowID: 1)?.bytes(0).count } == size)
    }

    /// Counts the pipelines of a connection: the response to each is awaited. How often bytes change their direction depends on the machine.
    @Test func transactionsTakeFewRoundTrips() throws {
        let store = try Store()
        let person = try store.entity("Person")
        for first in [1, 1001] as [Int64] {
            let transaction = try #require(try store.backend.beginWrite() as? PostgreSQLWriteTransaction)
            let writing = transaction.session.connection
            let sets = try (0..<10 as Range<Int64>).map { try store.people([(first + $0, "n", nil)]) }
            var before = writing.pipelineCount
            _ = try transaction.apply(sets, committing: .full)
            #expect(writing.pipelineCount - before == 1)
            let reader = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
            let reading = reader.session.connection
            // The snapshot begins with the first request.
            before = reading.pipelineCount
            _ = try reader.ids(FetchRequest(person))
            #expect(reading.pipelineCount - before == 1)
            _ = try reader.related(store.entity("Firm").relationships[0], of: Array(1...500))
            #expect(reading.pipelineCount - before == 2)
            _ = try reader.version
            #expect(reading.pipelineCount - before == 2)
            reader.end()
            let other = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
            #expect(other.session.connection === reading)
            _ = try other.related(store.entity("Firm").relationships[0], of: Array(1...500))
            #expect(reading.pipelineCount - before == 3)
            other.end()
        }
    }

    @Test func outcomeOfALostCommitIsFound() throws {
        let proxy = try ConnectionProxy(TestServer.get())
        let store = try Store(proxy.url())
        for (id, fault) in [(1, ConnectionProxy.Fault.commitLost), (2, .responseLost)] as [(Int64, ConnectionProxy.Fault)] {
            let transaction = try store.backend.beginWrite()
            try transaction.apply(store.people([(id, "n", nil)]))
            proxy.failNextCommit(fault)
            let error = #expect(throws: StoreError.self) { try transaction.commit(.full) }
            #expect(error?.recovery == .commitOutcomeUnknown)
            let outcome = try transaction.commitOutcome()
            transaction.rollback()
            let version = try store.read { try $0.version }
            #expect(outcome == (fault == .commitLost ? .notCommitted : .committed(version: version)))
            #expect(try store.ids(FetchRequest(store.entity("Person"))) == (fault == .commitLost ? [] : [2]))
        }
    }

    @Test func commitsOfOthersAreAnnounced() throws {
        let options = TestServer.options()
        let (observing, writing) = try (Store(options: options), Store(options: options))
        let calls = Protected(0)
        let listener = observing.backend.announceCommits { calls.signal { $0 += 1 } }
        // The first call says that the listener listens.
        calls.wait(until: { $0 > 0 }, { _ in })
        try observing.write(observing.people([(1, "n", nil)]))
        let before = calls.withLock { $0 }
        try writing.write(writing.people([(2, "n", nil)]))
        calls.wait(until: { $0 > before }, { _ in })
        withExtendedLifetime(listener) {}
    }

    @Test func listenerEndsWithItsStore() throws {
        let server = try TestServer.get()
        let store = try Store(server.url(options: "application_name=listening"))
        let calls = Protected(0)
        let listener = store.backend.announceCommits { calls.signal { $0 += 1 } }
        calls.wait(until: { $0 > 0 }, { _ in })
        try store.backend.close()
        while try server.psql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'listening'") != "0" {}
        withExtendedLifetime(listener) {}
    }

    @Test func errorThatEndsTheTransactionIsThrownAgain() throws {
        let store = try Store()
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.people([(1, "n", nil)]))
        let connection = try #require(transaction as? PostgreSQLWriteTransaction).session.connection
        let number = try #require(try connection.rows("SELECT pg_backend_pid()::bigint").integer(0, 0))
        try TestServer.get().psql("SELECT pg_terminate_backend(\(number), 60000)")
        let first = #expect(throws: StoreError.self) { try transaction.apply(store.people([(2, "n", nil)])) }
        #expect(first?.recovery == .connectionLost)
        #expect(throws: StoreError.self) { try transaction.commit(.full) }
        transaction.rollback()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
    }

    @Test func readerThatWaitsForAMigrationSeesItsCommit() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let other = try TestServer.connect()
        let metadata = "\(options.schema).polystore_metadata"
        try other.run([.once("BEGIN"), .once("LOCK TABLE \(options.schema).polystore_state, \(metadata) IN ACCESS EXCLUSIVE MODE")])
        let outcome = inBackground { try store.read { try $0.record(store.entity("Person"), rowID: 1) == nil } }
        try TestServer.waitForLock(in: options.schema)
        try other.run([.once("UPDATE \(metadata) SET generation = generation + 1"), .once("COMMIT")])
        let error = #expect(throws: StoreError.self) { try outcome().get() }
        #expect(error?.code == .differentStoreAtURL)
    }

    @Test func openingWithAnotherIndexChangesThatIndexAlone() throws {
        let options = TestServer.options()
        try Store(options: options).backend.close()
        let indexes = "SELECT indexrelid::bigint FROM pg_index WHERE indrelid = '\(options.schema).\"Person\"'::regclass ORDER BY 1"
        let before = try TestServer.get().psql(indexes)
        // Others that read the store do not prevent it.
        let reader = try TestServer.connect()
        try reader.run([.once("BEGIN"), .once("SELECT * FROM \(options.schema).\"Person\"")])
        try Store(options: options, schema: companySchema(isScoreIndexed: true)).backend.close()
        #expect(try TestServer.get().psql(indexes).hasPrefix(before + "\n"))
        try reader.run([.once("ROLLBACK")])
        try Store(options: options).backend.close()
        #expect(try TestServer.get().psql(indexes) == before)
    }

    @Test func processesThatOpenWithTheSameIndexWaitForEachOther() throws {
        let options = TestServer.options()
        try Store(options: options).backend.close()
        let other = try TestServer.connect()
        try other.run([.once("BEGIN"), .once("LOCK TABLE \(options.schema).polystore_lock IN EXCLUSIVE MODE")])
        let outcomes = (0..<2).map { _ in
            inBackground { try Store(options: options, schema: companySchema(isScoreIndexed: true)).backend.close() }
        }
        try TestServer.waitForLock(in: options.schema, count: 2)
        try other.run([.once("COMMIT")])
        for outcome in outcomes { try outcome().get() }
    }

    @Test func openingThatWaitsForAMigrationReadsTheMetadataAgain() throws {
        let options = TestServer.options()
        try Store(options: options).backend.close()
        let metadata = "\(options.schema).polystore_metadata"
        let other = try TestServer.connect()
        try other.run([.once("BEGIN"), .once("LOCK TABLE \(options.schema).polystore_lock IN EXCLUSIVE MODE")])
        let outcome = inBackground { try Store(options: options, schema: companySchema(isScoreIndexed: true)).backend.close() }
        try TestServer.waitForLock(in: options.schema)
        // What the process after a newer version of this library leaves.
        try other.run([.once("UPDATE \(metadata) SET format = 99"), .once("COMMIT")])
        #expect(throws: StoreError.self) { try outcome().get() }
        #expect(try TestServer.get().psql("SELECT format FROM \(metadata)") == "99")
    }

    @Test func formatFromBeforeTheFirstReleaseIsRefused() throws {
        let options = TestServer.options()
        _ = try Store(options: options)
        try TestServer.get().psql("UPDATE \(options.schema).polystore_metadata SET format = 1")
        let error = #expect(throws: StoreError.self) { try Store(options: options) }
        #expect(error?.code == .unsupported)
        #expect(try TestServer.get().psql("SELECT format FROM \(options.schema).polystore_metadata") == "1")
    }

    @Test(arguments: [-1, Int64.max])
    func damagedVersionIsCorrupt(_ version: Int64) throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try TestServer.get().psql("UPDATE \(options.schema).polystore_state SET version = \(version)")
        let reader = try store.backend.beginRead()
        let reading = #expect(throws: StoreError.self) { try reader.version }
        #expect(reading?.code == .corrupt)
        let again = #expect(throws: StoreError.self) { try reader.ids(FetchRequest(store.entity("Person"))) }
        #expect(again?.code == .corrupt)
        reader.end()
        let writer = try store.backend.beginWrite()
        let writing = #expect(throws: StoreError.self) { try writer.apply([store.people([(1, "n", nil)])], committing: .full) }
        #expect(writing?.code == .corrupt)
    }

    /// Lets each commit fail at its end.
    private func failCommits(of options: PostgreSQLOptions, _ state: String) throws {
        let schema = options.schema
        try TestServer.get().psql(
            """
            CREATE FUNCTION \(schema).fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            RAISE EXCEPTION 'the commit fails' USING ERRCODE = '\(state)'; END $$;
            CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON \(schema).polystore_commits DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION \(schema).fail()
            """)
    }

    @Test(arguments: ["40003", "08006"])
    func serverThatDoesNotKnowTheOutcomeIsAskedAgain(_ state: String) throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try failCommits(of: options, state)
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.people([(1, "n", nil)]))
        let error = #expect(throws: StoreError.self) { try transaction.commit(.full) }
        #expect(error?.recovery == .commitOutcomeUnknown)
        #expect(try transaction.commitOutcome() == .notCommitted)
        transaction.rollback()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
    }

    @Test func errorOfTheCommitIsTheOneThatIsThrown() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try failCommits(of: options, "P0001")
        let transaction = try store.backend.beginWrite()
        let error = #expect(throws: StoreError.self) { try transaction.apply([store.people([(1, "n", nil)])], committing: .full) }
        #expect(error?.sqlState == "P0001")
        transaction.rollback()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
    }

    @Test func errorOfTheCommitsStatementsIsUndone() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try TestServer.get().psql("ALTER TABLE \(options.schema).polystore_commits ADD CHECK (version > 1)")
        let transaction = try store.backend.beginWrite()
        let error = #expect(throws: StoreError.self) { try transaction.apply([store.people([(1, "n", nil)])], committing: .full) }
        #expect(error?.sqlState == "23514")
        transaction.rollback()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
    }
}
