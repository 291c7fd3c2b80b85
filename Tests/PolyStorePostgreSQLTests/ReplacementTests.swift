import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Migrations, their completion and the removal of a store, while other processes do the same or stop in the middle.
@Suite(.withServer) struct ReplacementTests {
    /// Returns a store that a migration has left with former tables, because a snapshot of another process reads them.
    private func staged(
        _ target: ResolvedSchema, _ options: PostgreSQLOptions = TestServer.options()
    ) throws -> (options: PostgreSQLOptions, early: any ReadTransaction) {
        var brief = options
        brief.renamingTime = .milliseconds(10)
        let store = try Store(options: brief)
        try store.write(store.people([(1, "Jane", "j"), (2, "Bob", nil)]))
        let early = try Store(options: options).backend.beginRead()
        #expect(try early.version == 1)
        try store.backend.beginMigration(MigrationTests.change(store.schema, to: target)).commit()
        return (options, early)
    }

    private func erase(_ options: PostgreSQLOptions) throws {
        try StoreConfiguration.postgreSQL(TestServer.get().url(), options: options).erase()
    }

    /// Returns the relations of a schema whose names match a regular expression.
    private func relations(_ options: PostgreSQLOptions, _ pattern: String = "") throws -> String {
        try TestServer.get().psql(
            "SELECT string_agg(relname, ' ' ORDER BY relname COLLATE \"C\") FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "WHERE nspname = '\(options.schema)' AND relkind IN ('r', 'i') AND relname ~ '\(pattern)'")
    }

    // MARK: Erasing

    @Test(arguments: [false, true])
    func erasingDuringAMigrationRemovesTheTablesOfTheNewModel(_ hasReader: Bool) throws {
        var options = TestServer.options()
        options.renamingTime = hasReader ? .milliseconds(10) : .seconds(3600)
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        let early = hasReader ? try Store(options: options).backend.beginRead() : nil
        _ = try early?.version
        let change = try MigrationTests.change(store.schema, to: MigrationTests.target(named: "Human"))
        let migration = try store.backend.beginMigration(change)
        let end = inBackground { [options] in try erase(options) }
        try TestServer.waitForLock(in: options.schema)
        try migration.commit()
        early?.end()
        try end().get()
        #expect(try relations(options) == "")
        #expect(try TestServer.get().psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(options.schema)'") == "0")
        // Nothing hinders a new store.
        #expect(try Store(options: options).ids(FetchRequest(store.entity("Person"))) == [])
    }

    @Test func storeThatAnotherProcessErasesMeanwhileIsErased() throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        let writer = try store.backend.beginWrite()
        _ = try writer.version
        let ends = (0..<2).map { _ in inBackground { try erase(options) } }
        try TestServer.waitForLock(in: options.schema, count: 2)
        writer.rollback()
        for end in ends { try end().get() }
        #expect(try relations(options) == "")
    }

    // MARK: Completion

    @Test(arguments: [false, true])
    func migrationIsCompletedByAProgramWithOtherIndexes(_ hasIndex: Bool) throws {
        let (options, early) = try staged(MigrationTests.target(isTitleIndexed: !hasIndex))
        let program = try MigrationTests.target(isTitleIndexed: hasIndex)
        let store = try Store(options: options, schema: program)
        #expect(try relations(options, "^polystore_new_") != "")
        early.end()
        // The end of the snapshot is not waited for.
        while try TestServer.get().psql(
            "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = '\(options.schema)'"
        ) != "0" {}
        // Completes the last migration first.
        let person = try FetchRequest(store.entity("Person"))
        let empty = try SchemaChange(
            identifier: "again", source: store.schema, target: MigrationTests.target(named: "Human"), entities: [.empty(rowIDsOf: nil)],
            links: [])
        let migration = try store.backend.beginMigration(empty)
        migration.rollback()
        #expect(try relations(options, "^polystore_new_") == "")
        try store.backend.close()
        let opened = try Store(options: options, schema: program)
        #expect(try opened.ids(person) == [1, 2])
        #expect(try opened.backend.verify().isEmpty)
        try opened.backend.beginMigration(empty).commit()
    }

    // MARK: Outcomes

    @Test(arguments: [false, true])
    func migrationWhoseResponseIsLostIsThereOrNot(_ isExecuted: Bool) throws {
        let options = TestServer.options()
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        let through = try Store(proxy.url(), options: options)
        let migration = try through.backend.beginMigration(MigrationTests.change(through.schema))
        if isExecuted {
            proxy.setResponseRule { $0 == "COMMIT" ? .drop : .forward }
            try migration.commit()
        } else {
            proxy.setRule { $0 == "COMMIT" ? .drop : .forward }
            let error = #expect(throws: StoreError.self) { try migration.commit() }
            #expect(error?.recovery == .connectionLost)
        }
        let found = try Store(options: options, schema: isExecuted ? MigrationTests.target() : nil)
        #expect(try found.ids(FetchRequest(found.entity("Person"))) == [1])
    }

    @Test(arguments: [false, true], [false, true])
    func copyWhoseResponseIsLostIsThereOrNot(_ isExecuted: Bool, _ hasSchema: Bool) throws {
        let store = try Store()
        try store.write(store.people([(1, "Jane", nil)]))
        let options = TestServer.options()
        if hasSchema { try TestServer.get().psql("CREATE SCHEMA \(options.schema)") }
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        let url = proxy.url(options: "schema=\(options.schema)")
        if isExecuted {
            proxy.setResponseRule { $0 == "COMMIT" ? .drop : .forward }
            try store.backend.copy(to: url) { _ in }
            let copy = try Store(options: options)
            #expect(try copy.ids(FetchRequest(copy.entity("Person"))) == [1])
        } else {
            proxy.setRule { $0 == "COMMIT" ? .drop : .forward }
            #expect(throws: StoreError.self) { try store.backend.copy(to: url) { _ in } }
            #expect(try relations(options) == "")
        }
    }

    // MARK: Processes that stop

    @Test func readersAndWritersWaitForAReplacementUpToTheBusyTimeout() throws {
        let options = TestServer.options()
        try Store(options: options).backend.close()
        var brief = options
        brief.busyTimeout = .milliseconds(50)
        let store = try Store(options: brief)
        // What a process holds that stops at the commit of a migration.
        let other = try TestServer.connect()
        for table in ["state", "metadata"] {
            try other.run([.once("BEGIN"), .once("LOCK TABLE \(options.schema).polystore_\(table) IN ACCESS EXCLUSIVE MODE")])
            let reader = try store.backend.beginRead()
            let reading = #expect(throws: StoreError.self) { try reader.ids(FetchRequest(store.entity("Person"))) }
            #expect(reading?.code == .busy)
            reader.end()
            let writing = #expect(throws: StoreError.self) { try store.backend.beginWrite().version }
            #expect(writing?.code == .busy)
            try other.run([.once("ROLLBACK")])
            // The next ones are not concerned.
            var options = options
            options.busyTimeout = .seconds(3600)
            #expect(try Store(options: options).ids(FetchRequest(store.entity("Person"))) == [])
        }
    }

    @Test func serverEndsAReplacementWhoseProcessHasStopped() throws {
        var options = TestServer.options()
        let store = try Store(options: options)
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        options.replacementIdleTime = .milliseconds(100)
        let through = try Store(proxy.url(), options: options)
        nonisolated(unsafe) let migration = try through.backend.beginMigration(MigrationTests.change(through.schema))
        let isStalled = Protected(false)
        proxy.setRule { sql in
            // The locks are held, and nothing is being executed.
            guard sql.hasPrefix("UPDATE"), sql.contains("polystore_metadata") else { return .forward }
            isStalled.signal { $0 = true }
            return .stall
        }
        let end = inBackground { try migration.commit() }
        isStalled.wait(until: { $0 }, { _ in })
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [])
        try store.write(store.people([(1, "Jane", nil)]))
        proxy.reset()
        proxy.release()
        #expect(throws: StoreError.self) { try end().get() }
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
    }

    // MARK: Tables of others

    @Test func tablesOfOthersAreKeptWithAnIncompleteMigration() throws {
        let (options, early) = try staged(MigrationTests.target(named: "Human"))
        let server = try TestServer.get()
        // The name is that of a table of the model, which it receives at the completion.
        try server.psql("CREATE TABLE \(options.schema).\"Human\" (a int)")
        early.end()
        try erase(options)
        #expect(try relations(options) == "Human")
    }

    @Test(arguments: [false, true])
    func migrationWhoseNamesOthersUseIsRefused(_ hasReader: Bool) throws {
        var options = TestServer.options()
        options.renamingTime = hasReader ? .milliseconds(10) : .seconds(60)
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", nil)]))
        try TestServer.get().psql("CREATE TABLE \(options.schema).\"Human\" (a int)")
        let early = hasReader ? try Store(options: options).backend.beginRead() : nil
        _ = try early?.version
        let change = try MigrationTests.change(store.schema, to: MigrationTests.target(named: "Human"))
        let migration = try store.backend.beginMigration(change)
        let error = #expect(throws: StoreError.self) { try migration.commit() }
        #expect(error?.message.contains("Rename it (ALTER TABLE") == true)
        early?.end()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1])
    }
}
