import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Stores that several users of the server use, with different rights on their tables.
@Suite(.withServer) struct RightsTests {
    /// A user who changes the tables of a store of another user.
    enum Other: CaseIterable {
        case superuser
        /// A member of the role that owns the store.
        case member
        /// A user who may write to the tables of the store, and create others beside them.
        case writer
    }

    private func psql(_ sql: String, _ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(sql.replacingOccurrences(of: "#", with: options.schema))
    }

    /// Creates the user who owns the store, and returns the URL of the user.
    private func owner(_ options: PostgreSQLOptions, createsSchema: Bool = true) throws -> String {
        let right = createsSchema ? "CREATE ON DATABASE postgres" : "USAGE, CREATE ON SCHEMA #"
        _ = try psql("CREATE ROLE #_owner LOGIN; \(createsSchema ? "" : "CREATE SCHEMA #;") GRANT \(right) TO #_owner", options)
        return try TestServer.get().url(user: "\(options.schema)_owner")
    }

    /// Creates another user, and returns the URL of the user.
    private func url(_ other: Other, _ options: PostgreSQLOptions) throws -> String {
        switch other {
        case .superuser: return try TestServer.get().url()
        case .member: _ = try psql("CREATE ROLE #_other LOGIN; GRANT #_owner TO #_other", options)
        case .writer:
            _ = try psql(
                "CREATE ROLE #_other LOGIN; GRANT USAGE, CREATE ON SCHEMA # TO #_other; "
                    + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA # TO #_other", options)
        }
        return try TestServer.get().url(user: "\(options.schema)_other")
    }

    /// Creates a user who may read the tables of the store, and returns the URL of the user.
    private func reader(_ options: PostgreSQLOptions) throws -> String {
        _ = try psql(
            "CREATE ROLE #_reader LOGIN; GRANT USAGE ON SCHEMA # TO #_reader; GRANT SELECT ON ALL TABLES IN SCHEMA # TO #_reader", options)
        return try TestServer.get().url(user: "\(options.schema)_reader")
    }

    private func waitUntilBuilt(_ store: Store) throws {
        while try store.read({ try $0.searchStatistics(store.condition("fox")) }) == nil {}
    }

    private func searchTables(_ options: PostgreSQLOptions) throws -> String {
        try psql("SELECT count(*) FROM pg_class WHERE relnamespace = '#'::regnamespace AND relname LIKE 'polystore_search%'", options)
    }

    // MARK: Tables that another user creates

    @Test(arguments: Other.allCases, [false, true])
    func ownerMaintainsIndexThatAnotherUserAdds(_ other: Other, _ hasReader: Bool) throws {
        let options = TestServer.options()
        let owner = try owner(options)
        let former = try Store(owner, options: options, schema: articleSchema([]))
        try former.write(former.articles([(1, "fox", nil)]))
        // Without a reader, no right on the tables was granted.
        let reader = hasReader ? try reader(options) : nil
        let adding = try Store(url(other, options), options: options, schema: articleSchema())
        try waitUntilBuilt(adding)
        // The owner's store object must begin again, with the index that the store has.
        let lost = #expect(throws: StoreError.self) { try former.write(former.articles([(2, "fox", nil)])) }
        #expect(lost?.recovery == .connectionLost)
        try former.write(former.articles([(2, "fox", nil)]))
        let store = try Store(owner, options: options, schema: articleSchema())
        try store.write(store.articles([(3, "fox", nil)]))
        try adding.write(adding.articles([(4, "fox", nil)]))
        for store in [store, adding] { #expect(try store.found("fox") == [1, 2, 3, 4]) }
        if let reader {
            let reading = try Store(reader, options: options, schema: articleSchema(), isReadOnly: true)
            #expect(try reading.found("fox") == [1, 2, 3, 4])
        }
        if other == .writer {
            // The owner of the store may use the tables, and does not own them.
            #expect(throws: StoreError.self) { try store.backend.compact() }
        } else {
            try store.backend.compact()
        }
        #expect(try store.backend.verify() == [])
        _ = try Store(owner, options: options, schema: articleSchema([]))
        #expect(try searchTables(options) == "0")
    }

    @Test(arguments: [Other.superuser, .member], [false, true])
    func ownerUsesStoreThatAnotherUserHasMigrated(_ other: Other, _ hasSnapshot: Bool) throws {
        var options = TestServer.options()
        if hasSnapshot { options.renamingTime = .milliseconds(10) }
        let owner = try owner(options)
        let former = try Store(owner, options: options)
        try former.write(former.people([(1, "Jane", "j"), (2, "Bob", nil)]))
        let reader = try reader(options)
        let snapshot = hasSnapshot ? try former.backend.beginRead() : nil
        _ = try snapshot?.version
        let migrating = try Store(url(other, options), options: options)
        try migrating.backend.beginMigration(MigrationTests.change(migrating.schema)).commit()
        snapshot?.end()
        let store = try Store(owner, options: options, schema: MigrationTests.target())
        let changes = ChangeSet(store.schema)
        try changes.insert(store.entity("Person"), rowID: 3) { $0.setText(0, "Ann") }
        try store.write(changes)
        try store.backend.compact()
        let reading = try Store(reader, options: options, schema: MigrationTests.target(), isReadOnly: true)
        #expect(try reading.ids(FetchRequest(reading.entity("Person"))) == [1, 2, 3])
        // The owner also migrates and erases it.
        let again = try SchemaChange(
            identifier: "again", source: store.schema, target: articleSchema(), entities: [.empty(rowIDsOf: nil), .empty(rowIDsOf: nil)],
            links: [])
        try store.backend.beginMigration(again).commit()
        let last = try Store(owner, options: options, schema: articleSchema())
        try last.write(last.articles([(1, "fox", nil)]))
        try last.backend.close()
        try StoreConfiguration.postgreSQL(owner, options: options).erase()
        #expect(try psql("SELECT count(*) FROM pg_namespace WHERE nspname = '#'", options) == "0")
    }

    @Test(arguments: [Other.superuser, .member], [false, true])
    func ownerUsesAndErasesStoreThatAnotherUserHasReset(_ other: Other, _ createsSchema: Bool) throws {
        let options = TestServer.options()
        let owner = try owner(options, createsSchema: createsSchema)
        try Store(owner, options: options).backend.close()
        let configuration = try StoreConfiguration.postgreSQL(url(other, options), options: options).resettingOnModelMismatch()
        try configuration.open(schema: articleSchema(), configurationName: nil, logger: SilentLogger()).close()
        let store = try Store(owner, options: options, schema: articleSchema())
        try store.write(store.articles([(1, "fox", nil)]))
        #expect(try store.found("fox") == [1])
        try store.backend.compact()
        try store.backend.close()
        try StoreConfiguration.postgreSQL(owner, options: options).erase()
        #expect(try psql("SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('#')", options) == "0")
        #expect(try psql("SELECT count(*) FROM pg_proc WHERE pronamespace = to_regnamespace('#')", options) == "0")
    }

    // MARK: Users without rights on the indexes

    /// A snapshot of the user searches the texts. A write of the same store object must not skip the indexes for that reason.
    @Test(arguments: [false, true], [false, true])
    func userWhoMayNotReadTheIndexesDoesNotWrite(_ isGroup: Bool, _ verifies: Bool) throws {
        let options = TestServer.options()
        let owning = try Store(options: options, schema: articleSchema())
        try owning.write(owning.articles([(1, nil, "fox")]))
        let writing = try Store(url(.writer, options), options: options, schema: articleSchema())
        // The store has another index since then, which the user may not use.
        let store = try Store(options: options, schema: articleSchema([SearchIndexDescription(fields: ["body"])]))
        try waitUntilBuilt(store)
        let tables = "#.polystore_search, #.polystore_search_pages"
        _ = try psql("REVOKE ALL ON \(tables) FROM #_other", options)
        for _ in 0..<2 {
            if verifies { #expect(try writing.backend.verify() == []) } else { #expect(try writing.found("fox") == nil) }
            let changes = try writing.articles([(2, nil, "fox")])
            let error = #expect(throws: StoreError.self) {
                if isGroup { try writing.commit([changes]) } else { try writing.write(changes) }
            }
            #expect(error?.code == .readOnly && error?.message.contains("polystore_search_pages") == true, "\(error?.message ?? "")")
            #expect(try writing.ids(FetchRequest(writing.article)) == [1])
        }
        _ = try psql("GRANT SELECT, INSERT, UPDATE, DELETE ON \(tables) TO #_other", options)
        try writing.write(writing.articles([(2, nil, "fox")]))
        #expect(try store.found("fox") == [1, 2])
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try store.backend.verify() == [])
    }
}
