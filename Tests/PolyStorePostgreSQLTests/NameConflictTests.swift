import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Objects that an administrator has created in the schema of a store, with names that the tables and indexes of a new model receive.
@Suite(.withServer) struct NameConflictTests {
    /// What has the name.
    enum Kind: CaseIterable {
        case index, key, table, view, sequence, enumeration

        /// The statement of SQL that renames it.
        var renaming: String {
            switch self {
            case .index, .key: "ALTER INDEX"
            case .table: "ALTER TABLE"
            case .view: "ALTER VIEW"
            case .sequence: "ALTER SEQUENCE"
            case .enumeration: "ALTER TYPE"
            }
        }

        func creation(_ name: String, in schema: String) -> String {
            switch self {
            case .index: "CREATE TABLE \(schema).extra (a int); CREATE INDEX \"\(name)\" ON \(schema).extra (a)"
            case .key: "CREATE TABLE \(schema).extra (a int CONSTRAINT \"\(name)\" PRIMARY KEY)"
            case .table: "CREATE TABLE \(schema).\"\(name)\" (a int)"
            case .view: "CREATE VIEW \(schema).\"\(name)\" AS SELECT 1 AS a"
            case .sequence: "CREATE SEQUENCE \(schema).\"\(name)\""
            case .enumeration: "CREATE TYPE \(schema).\"\(name)\" AS ENUM ('a')"
            }
        }
    }

    /// The commit ring has an index and a type, the thorough ring all of them.
    private static let kinds = TestServer.isThorough ? Kind.allCases : [.index, .enumeration]

    private static func target() throws -> ResolvedSchema { try MigrationTests.target(named: "Human") }

    /// Returns a name that a table or an index of the new model receives.
    private func name(_ kind: Kind, _ options: PostgreSQLOptions) throws -> String {
        let table = try StoreTables(Self.target(), in: options.schema).entities[0]
        return switch kind {
        case .index: try #require(table.indexes.first).plainName
        case .key: table.keyName
        case .table, .view, .sequence, .enumeration: table.plainName
        }
    }

    private func store(_ options: PostgreSQLOptions) throws -> Store {
        let store = try Store(options: options)
        try store.write(store.people([(1, "Jane", "j"), (2, "Bob", nil)]))
        return store
    }

    private func stagedTables(_ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(
            "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = '\(options.schema)' AND relname LIKE 'polystore_new_%'"
        )
    }

    @Test(arguments: kinds, [false, true])
    func migrationThatNeedsTheNameIsRefusedAndNamesTheObject(_ kind: Kind, _ hasReader: Bool) throws {
        var options = TestServer.options()
        options.renamingTime = hasReader ? .milliseconds(10) : .seconds(60)
        let store = try store(options)
        let name = try name(kind, options)
        try TestServer.get().psql(kind.creation(name, in: options.schema))
        let early = hasReader ? try Store(options: options).backend.beginRead() : nil
        _ = try early?.version
        let change = try MigrationTests.change(store.schema, to: Self.target())
        let migration = try store.backend.beginMigration(change)
        let error = #expect(throws: StoreError.self) { try migration.commit() }
        let renaming = "\(kind.renaming) \"\(options.schema)\".\"\(name)\" RENAME TO"
        #expect(error?.message.contains(renaming) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("was not migrated") == true)
        early?.end()
        #expect(try store.ids(FetchRequest(store.entity("Person"))) == [1, 2])
        // The way out is one.
        try TestServer.get().psql("\(renaming) other")
        try store.backend.beginMigration(change).commit()
        #expect(try Store(options: options, schema: Self.target()).backend.verify().isEmpty)
    }

    /// The object appears after the commit, which could not rename the tables because others read them.
    @Test(arguments: kinds)
    func completionThatNeedsTheNameIsReportedAndContinuesAfterARenaming(_ kind: Kind) throws {
        var options = TestServer.options()
        options.renamingTime = .milliseconds(10)
        let first = try store(options)
        let early = try Store(options: options).backend.beginRead()
        #expect(try early.version == 1)
        let target = try Self.target()
        try first.backend.beginMigration(MigrationTests.change(first.schema, to: target)).commit()
        let name = try name(kind, options)
        try TestServer.get().psql(kind.creation(name, in: options.schema))
        early.end()
        options.renamingTime = .seconds(3600)
        let renaming = "\(kind.renaming) \"\(options.schema)\".\"\(name)\" RENAME TO"
        let log = MessageLog()
        let configuration = try StoreConfiguration.postgreSQL(TestServer.get().url(), options: options)
        let opened = try configuration.open(schema: target, configurationName: nil, logger: log)
        #expect(log.messages.contains { $0.contains(renaming) }, "\(log.messages)")
        // The store is used as it is.
        let human = try #require(target.entity(named: "Human"))
        let changes = ChangeSet(target)
        try changes.insert(human, rowID: 3) { $0.setText(0, "Ann") }
        let writer = try opened.beginWrite()
        try writer.apply(changes)
        _ = try writer.commit(.full)
        #expect(try opened.verify().isEmpty)
        #expect(try stagedTables(options) != "0")
        let again = try SchemaChange(
            identifier: "again", source: target, target: Self.target(), entities: [.empty(rowIDsOf: nil)], links: [])
        let error = #expect(throws: StoreError.self) { try opened.beginMigration(again) }
        #expect(error?.message.contains(renaming) == true, "\(error?.message ?? "")")
        // The renaming completes it.
        try TestServer.get().psql("\(renaming) other")
        let completed = try Store(options: options, schema: target)
        #expect(try stagedTables(options) == "0")
        #expect(try completed.ids(FetchRequest(human)) == [1, 2, 3])
        #expect(try completed.backend.verify().isEmpty)
    }
}
