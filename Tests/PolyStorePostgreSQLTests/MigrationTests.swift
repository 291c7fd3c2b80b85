import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Migrations while others read the store, and migrations that end in the middle.
@Suite(.withServer) struct MigrationTests {
    /// The model after the migration: people have other names and a unique code, and are in no company.
    static func target(named name: String = "Person", isTitleIndexed: Bool = true) throws -> ResolvedSchema {
        try ResolvedSchema(
            SchemaDescription(
                name: "Company 2",
                entities: [
                    EntityDescription(
                        name: name,
                        properties: [
                            .attribute(AttributeDescription(name: "title", type: .string, isIndexed: isTitleIndexed)),
                            .attribute(AttributeDescription(name: "code", type: .string, isOptional: true, isUnique: true)),
                        ])
                ]))
    }

    static func change(_ schema: ResolvedSchema, to other: ResolvedSchema? = nil) throws -> SchemaChange {
        let target = try other ?? target()
        let source = try #require(schema.entity(named: "Person"))
        let fields = try target.entities[0].fields.map { field in
            let name = field.name == "title" ? "name" : "email"
            return SchemaChange.FieldSource.field(try #require(source.field(named: name)).index, replacingNullWith: .null)
        }
        return try SchemaChange(
            identifier: "test", source: schema, target: target, entities: [.carried(entity: source.index, fields: fields)], links: [])
    }

    private func store() throws -> (store: Store, options: PostgreSQLOptions) {
        let options = TestServer.options()
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", "j"), (2, "Bob", nil)]))
        return (store, options)
    }

    private func migrate(_ store: Store) throws {
        let migration = try store.backend.beginMigration(Self.change(store.schema))
        try migration.commit()
    }

    private func tables(_ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(
            "SELECT string_agg(relname, ' ' ORDER BY relname COLLATE \"C\") FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                + "WHERE nspname = '\(options.schema)' AND relkind = 'r' AND relname !~ '^polystore_(lock|state|metadata|names|commits|sequence|values|log)$'"
        )
    }

    private func names(_ store: Store) throws -> [String] {
        try store.read { transaction in
            try transaction.ids(FetchRequest(store.entity("Person"))).compactMap { id in
                try transaction.record(store.entity("Person"), rowID: id)?.string(0)
            }
        }
    }

    @Test func readersFromBeforeReadTheFormerTables() throws {
        let (store, options) = try store()
        let other = try Store(options: options)
        let early = try other.backend.beginRead()
        #expect(try early.version == 1)
        try migrate(store)
        #expect(try early.ids(FetchRequest(other.entity("Person"))) == [1, 2])
        #expect(try tables(options) == "Firm Person polystore_new_t0")
        // The migrated store is used although its tables have other names.
        let new = try Store(options: options, schema: Self.target())
        let person = try new.entity("Person")
        #expect(try names(new) == ["Jane", "Bob"])
        let changes = ChangeSet(new.schema)
        try changes.insert(person, rowID: 3) { $0.setText(0, "Ann") }
        try new.write(changes)
        #expect(try new.backend.verify().isEmpty)
        #expect(try early.ids(FetchRequest(other.entity("Person"))) == [1, 2])
        early.end()
        // Another process that opens the store completes the migration, and the open store follows.
        #expect(try names(Store(options: options, schema: Self.target())) == ["Jane", "Bob", "Ann"])
        #expect(try tables(options) == "Person")
        var outcome = Result { try names(new) }
        if case .failure(let error as StoreError) = outcome {
            #expect(error.recovery == .connectionLost)
            outcome = Result { try names(new) }
        }
        #expect(try outcome.get() == ["Jane", "Bob", "Ann"])
        #expect(try new.backend.verify().isEmpty)
        #expect(throws: StoreError.self) { try other.backend.beginRead().version }
    }

    @Test func migrationIsCompletedInTheBackground() throws {
        let (store, options) = try store()
        let early = try Store(options: options).backend.beginRead()
        #expect(try early.version == 1)
        try migrate(store)
        let new = try Store(options: options, schema: Self.target())
        early.end()
        while try tables(options) != "Person" {}
        let changes = ChangeSet(new.schema)
        changes.delete(try new.entity("Person"), rowID: 1)
        try new.write(changes)
        #expect(try names(new) == ["Bob"])
    }

    @Test func erasingRemovesTheTablesOfAnIncompleteMigration() throws {
        let (store, options) = try store()
        let early = try Store(options: options).backend.beginRead()
        #expect(try early.version == 1)
        try migrate(store)
        early.end()
        try StoreConfiguration.postgreSQL(TestServer.get().url(), options: options).erase()
        #expect(try TestServer.get().psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(options.schema)'") == "0")
    }

    /// Ends the connection before each statement of the migration and of its completion, one after the other.
    @Test(arguments: [false, true])
    func migrationThatEndsAtAnyStatementLeavesTheOldStoreOrTheNewOne(_ hasReader: Bool) throws {
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        var isComplete = false
        var limit = 0
        while !isComplete {
            let (first, options) = try store()
            let early = hasReader ? try first.backend.beginRead() : nil
            _ = try early?.version
            proxy.reset()
            var brief = options
            if hasReader { brief.renamingTime = .milliseconds(10) }
            let through = try Store(proxy.url(), options: brief)
            let count = Protected(limit)
            // The connection ends, and so does every later one.
            proxy.setRule { _ in
                count.withLock { left in
                    left -= 1
                    return left < 0
                } ? .drop : .forward
            }
            isComplete = (try? migrate(through)) != nil && count.withLock { $0 >= 0 }
            try? through.backend.close()
            if let early {
                #expect(try early.ids(FetchRequest(first.entity("Person"))) == [1, 2])
                early.end()
            }
            // The former handle says which of the stores is there.
            let isMigrated = (try? first.read { try $0.version }) == nil
            if isComplete { #expect(isMigrated) }
            let found = try Store(options: options, schema: isMigrated ? Self.target() : nil)
            #expect(try names(found) == ["Jane", "Bob"])
            #expect(try found.backend.verify().isEmpty)
            if !isMigrated { try migrate(found) }
            #expect(try names(Store(options: options, schema: Self.target())) == ["Jane", "Bob"])
            #expect(try tables(options) == "Person")
            limit += 1
        }
        // The migration has more statements than a few.
        #expect(limit > 15)
    }

    /// Ends the connection before each statement that completes a migration; in the thorough ring also the session on the server.
    @Test(arguments: TestServer.isThorough ? [false, true] : [false])
    func completionThatEndsAtAnyStatementIsRepeated(_ endsSession: Bool) throws {
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        let (store, options) = try store()
        let early = try Store(options: options).backend.beginRead()
        #expect(try early.version == 1)
        try migrate(store)
        early.end()
        let target = try Self.target()
        var limit = 0
        while try tables(options) != "Person" {
            proxy.reset()
            let connection = try TestServer.connect(proxy.url(options: "application_name=\(options.schema)"))
            let database = Database(address: ServerAddress(try StoreURL(proxy.url())), location: "here", options: options)
            let count = Protected(limit)
            proxy.setRule { _ in
                let left = count.withLock { left in
                    left -= 1
                    return left
                }
                guard left < 0 else { return .forward }
                guard endsSession else { return .drop }
                let end = "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE application_name = '\(options.schema)'"
                if left == -1 { _ = try? TestServer.get().psql(end) }
                return .forward
            }
            _ = try? MigrationCompletion.run(connection, database)
            if try tables(options) != "Person" { #expect(try tables(options) == "Firm Person polystore_new_t0") }
            limit += 1
        }
        #expect(limit > 5)
        #expect(try names(Store(options: options, schema: target)) == ["Jane", "Bob"])
    }
}
