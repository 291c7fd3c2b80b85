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
        let ends = (0..<2).map { _ in inBackground { try erase(options) } }
        try TestServer.waitForLock(in: options.schema, count: 2)
        writer.rollback()
        for end in ends { try end().get() }
        #expect(try relations(options) == "")
    }
}
