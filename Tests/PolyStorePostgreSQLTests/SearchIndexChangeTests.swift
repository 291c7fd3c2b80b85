import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Full-text indexes that are added and removed while a store is in use, by this process and by others.
@Suite(.withServer) struct SearchIndexChangeTests {
    /// Waits until a search is executed by the index.
    private func waitUntilBuilt(_ store: Store, index: Int = 0) throws {
        while try store.read({ try $0.searchStatistics(store.condition("fox", index: index)) }) == nil {}
    }

    private func psql(_ sql: String, _ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(sql.replacingOccurrences(of: "#", with: options.schema + ".polystore_"))
    }

    private func relations(_ options: PostgreSQLOptions) throws -> String {
        try psql(
            "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = '\(options.schema)'::regnamespace AND relname ~ 'search'",
            options)
    }

    private func pool(_ store: Store) throws -> ConnectionPool { try #require(store.backend as? PostgreSQLBackend).pool }

    /// Lets the next builder build the indexes again.
    private func unbuilt(_ options: PostgreSQLOptions) throws {
        _ = try psql("UPDATE #search SET \"isComplete\" = false, built = NULL", options)
    }

    @Test func addedIndexIsBuiltInTheBackground() throws {
        let options = TestServer.options()
        let former = try Store(options: options, schema: articleSchema([]))
        try former.write(
            former.articles((1...5000).map { ($0, "the \(articleWords[Int($0) % 13])", $0 % 7 == 0 ? "quick brown fox" : nil) }))
        #expect(try psql("SELECT format, generation FROM #metadata", options) == "2|0")
        #expect(try relations(options) == "")
        let store = try Store(options: options, schema: articleSchema())
        try waitUntilBuilt(store)
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try psql("SELECT format, generation >> 32, generation & 4294967295 FROM #metadata", options) == "3|1|0")
        #expect(
            try psql("SELECT entity, fields, stemming, \"isComplete\", built FROM #search", options) == "Article|{title,body}|none|t|5000")
        // The build changes no object.
        #expect(try store.read { try $0.version } == 1)
    }

    @Test func writersMaintainWhatIsBuilt() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        try store.write(store.articles((1...100).map { ($0 * 10, "fox \($0)", nil) }))
        try unbuilt(options)
        var builder = try SearchIndexBuilder(pool: pool(store), logger: SilentLogger())
        builder.mostRows = 7
        var changes = ArticleChanges(seed: 3, ids: Set((1...100).map { $0 * 10 }), next: 1001)
        var batches = 0
        while let step = try builder.step(), !step.isLast {
            #expect(try store.found("fox") == nil)
            try store.commit([changes.changes(store, most: 5), changes.changes(store, most: 5)])
            // On both sides of what is built.
            let low = Int64(batches) * 10 + 3
            try store.write(store.articles([(low, "dog", "low"), (low + 1, "dog", nil)]))
            try store.write(store.retitling(low, "lazy dog"))
            try store.write(store.deletion([low + 1]))
            batches += 1
        }
        #expect(batches > 10)
        try store.read { try expectTextsFound(by: $0, store) }
        // A further call finds nothing to do.
        #expect(try builder.step() == nil)
    }

    @Test func buildersOfSeveralProcessesContinueForEachOther() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        try store.write(store.articles((1...400).map { ($0, "fox \($0)", nil) }))
        let other = try Store(options: options, schema: articleSchema())
        try unbuilt(options)
        let builders = try [store, other].map { store in
            var builder = try SearchIndexBuilder(pool: pool(store), logger: SilentLogger())
            builder.mostRows = 3
            return builder
        }
        for end in builders.map({ builder in inBackground { try builder.run() } }) { try end().get() }
        try store.read { try expectTextsFound(by: $0, store) }
        let counts = try [store, other].map { try pool($0).search.builtCount(1) }
        #expect(counts.reduce(0, +) == 400)
    }

    @Test func buildThatEndsWithItsProcessIsContinuedByTheNextOpening() throws {
        let options = TestServer.options()
        let proxy = try ProtocolProxy(TestServer.get())
        defer { proxy.stop() }
        do {
            let store = try Store(proxy.url(), options: options, schema: articleSchema())
            try store.write(store.articles((1...200).map { ($0, "fox \($0)", nil) }))
            try unbuilt(options)
            var builder = try SearchIndexBuilder(pool: pool(store), logger: SilentLogger())
            builder.mostRows = 10
            for _ in 0..<5 { #expect(try builder.step()?.isLast == false) }
            // The connection ends while a batch is being committed.
            proxy.setRule { sql in sql.hasPrefix("UPDATE") && sql.contains("polystore_search") ? .drop : .forward }
            #expect(throws: StoreError.self) { try builder.step() }
            try? store.backend.close()
        }
        #expect(try psql("SELECT built FROM #search", options) == "50")
        let store = try Store(options: options, schema: articleSchema())
        try waitUntilBuilt(store)
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try pool(store).search.builtCount(1) == 150)
    }

    @Test func removedIndexLeavesTheStoreAsOneThatNeverHadOne() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        try store.write(store.articles([(1, "fox", nil)]))
        #expect(try relations(options) == "polystore_search polystore_search_pages polystore_search_pages_pkey polystore_search_pkey")
        let other = try Store(options: options, schema: articleSchema([]))
        #expect(try psql("SELECT format FROM #metadata", options) == "2")
        #expect(try relations(options) == "")
        try other.write(other.articles([(2, "fox", nil)]))
        // The store object that has the index writes without it, and searches the texts from now on.
        let error = #expect(throws: StoreError.self) { try store.write(store.articles([(3, "fox", nil)])) }
        #expect(error?.recovery == .connectionLost)
        #expect(try store.found("fox") == nil)
        try store.write(store.articles([(3, "fox", nil)]))
        #expect(try store.ids(FetchRequest(store.article, predicate: .search(store.condition("fox")))) == [1, 2, 3])
        #expect(try other.backend.verify().isEmpty)
    }

    @Test func writerWhoseModelLacksTheIndexMaintainsIt() throws {
        let options = TestServer.options()
        let former = try Store(options: options, schema: articleSchema([]))
        try former.write(former.articles([(1, "fox", "dog")]))
        let store = try Store(options: options, schema: articleSchema())
        try waitUntilBuilt(store)
        // It must begin again, as after the end of a migration.
        let error = #expect(throws: StoreError.self) { try former.write(former.articles([(2, "fox", nil)])) }
        #expect(error?.recovery == .connectionLost)
        try former.write(former.articles([(2, "fox", nil)]))
        try former.commit([former.retitling(1, "lazy"), former.articles([(3, nil, "fox")]), former.deletion([3])])
        #expect(try store.found("fox") == [2])
        #expect(try store.found("lazy dog") == [1])
        try store.read { try expectTextsFound(by: $0, store) }
        // The snapshot of the former model reads as before.
        #expect(try former.ids(FetchRequest(former.article)) == [1, 2])
    }

    @Test func otherIndexesReplaceThoseThatTheModelLacks() throws {
        let options = TestServer.options()
        let first = [SearchIndexDescription(name: "a", fields: ["title"]), SearchIndexDescription(name: "b", fields: ["body"])]
        let second = [
            SearchIndexDescription(name: "stems", fields: ["title"], options: SearchOptions(stemming: .english)),
            SearchIndexDescription(name: "other", fields: ["body"], weights: [3]),
        ]
        let store = try Store(options: options, schema: articleSchema(first))
        try store.write(store.articles([(1, "foxes", "fox"), (2, "dog", nil)]))
        let other = try Store(options: options, schema: articleSchema(second))
        // Other names and weights change nothing that is stored.
        #expect(try other.read { try $0.search(SearchRequest(other.condition("fox", index: 1)))?.documents } == [1])
        try waitUntilBuilt(other)
        #expect(try psql("SELECT \"index\", fields, stemming FROM #search ORDER BY 1", options) == "2|{body}|none\n3|{title}|english")
        #expect(try psql("SELECT DISTINCT \"index\" FROM #search_pages ORDER BY 1", options) == "2\n3")
        for index in 0..<2 { try other.read { try expectTextsFound(by: $0, other, index: index) } }
        // The former model finds by the index that remains.
        #expect(try store.read { try $0.search(SearchRequest(store.condition("fox", index: 1)))?.documents } == [1])
        #expect(try store.found("fox") == nil)
    }

    @Test func snapshotFromBeforeSearchesAsItDid() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        try store.write(store.articles([(1, "fox", nil)]))
        let reader = try store.backend.beginRead()
        #expect(try reader.version == 1)
        // Removing the tables waits for it.
        let opening = inBackground { _ = try Store(options: options, schema: articleSchema([])) }
        try TestServer.waitForLock(in: options.schema)
        #expect(try reader.search(SearchRequest(store.condition("fox")))?.documents == [1])
        reader.end()
        try opening().get()
        #expect(try relations(options) == "")
    }

    @Test func usersWithRightsOnTheStoreHaveThemOnItsIndexes() throws {
        let options = TestServer.options()
        let former = try Store(options: options, schema: articleSchema([]))
        try former.write(former.articles([(1, "fox", nil)]))
        let (reader, writer) = ("\(options.schema)_reader", "\(options.schema)_writer")
        _ = try TestServer.get().psql(
            "CREATE ROLE \(reader) LOGIN; CREATE ROLE \(writer) LOGIN; GRANT USAGE ON SCHEMA \(options.schema) TO \(reader), \(writer); "
                + "GRANT SELECT ON ALL TABLES IN SCHEMA \(options.schema) TO \(reader); "
                + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(options.schema) TO \(writer)")
        let store = try Store(options: options, schema: articleSchema())
        try waitUntilBuilt(store)
        let writing = try Store(TestServer.get().url(user: writer), options: options, schema: articleSchema())
        try writing.write(writing.articles([(2, "fox", nil)]))
        let reading = try Store(TestServer.get().url(user: reader), options: options, schema: articleSchema(), isReadOnly: true)
        #expect(try reading.found("fox") == [1, 2])
        // Without the right to read the indexes, the texts are searched.
        _ = try psql("REVOKE ALL ON #search, #search_pages FROM \(reader)", options)
        let other = try Store(TestServer.get().url(user: reader), options: options, schema: articleSchema(), isReadOnly: true)
        #expect(try other.found("fox") == nil)
        #expect(try other.ids(FetchRequest(other.article, predicate: .search(other.condition("fox")))) == [1, 2])
        // Also without the right to read the pages alone, and when the indexes have changed since the opening.
        _ = try psql("GRANT SELECT ON #search TO \(reader)", options)
        let third = try Store(TestServer.get().url(user: reader), options: options, schema: articleSchema(), isReadOnly: true)
        #expect(try third.found("fox") == nil)
        _ = try Store(options: options, schema: articleSchema([SearchIndexDescription(fields: ["body"])]))
        #expect(try third.found("fox") == nil && reading.found("fox") == nil)
        #expect(try reading.ids(FetchRequest(reading.article)) == [1, 2])
        // A user who may write to the other tables is refused at the opening.
        _ = try psql("REVOKE INSERT ON #search_pages FROM \(writer)", options)
        let error = #expect(throws: StoreError.self) {
            try Store(TestServer.get().url(user: writer), options: options, schema: articleSchema())
        }
        #expect(error?.code == .readOnly && error?.message.contains("polystore_search_pages") == true)
    }

    @Test func userWhoMayNotCreateTablesIsToldSo() throws {
        let options = TestServer.options()
        let former = try Store(options: options, schema: articleSchema([]))
        try former.write(former.articles([(1, "fox", nil)]))
        let writer = "\(options.schema)_writer"
        _ = try TestServer.get().psql(
            "CREATE ROLE \(writer) LOGIN; GRANT USAGE ON SCHEMA \(options.schema) TO \(writer); "
                + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(options.schema) TO \(writer)")
        let error = #expect(throws: StoreError.self) {
            try Store(TestServer.get().url(user: writer), options: options, schema: articleSchema())
        }
        #expect(error?.message.hasPrefix("Cannot replace the indexes of the store") == true)
        #expect(try former.ids(FetchRequest(former.article)) == [1])
        try former.write(former.articles([(2, "fox", nil)]))
    }

    @Test func readOnlyStoreOfAnotherModelSearchesTheTexts() throws {
        let options = TestServer.options()
        let former = try Store(options: options, schema: articleSchema([]))
        try former.write(former.articles([(1, "fox", nil)]))
        let reading = try Store(options: options, schema: articleSchema(), isReadOnly: true)
        #expect(try reading.found("fox") == nil)
        #expect(try reading.ids(FetchRequest(reading.article, predicate: .search(reading.condition("fox")))) == [1])
        #expect(try psql("SELECT format FROM #metadata", options) == "2")
    }

    @Test func erasedAndResetStoresLeaveNoTables() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        try store.write(store.articles([(1, "fox", nil)]))
        let configuration = try StoreConfiguration.postgreSQL(TestServer.get().url(), options: options).resettingOnModelMismatch()
        let reset = try configuration.open(schema: companySchema(), configurationName: nil, logger: SilentLogger())
        #expect(try relations(options) == "")
        #expect(try psql("SELECT format FROM #metadata", options) == "2")
        try reset.close()
        _ = try configuration.open(schema: articleSchema(), configurationName: nil, logger: SilentLogger())
        #expect(try psql("SELECT format FROM #metadata", options) == "3")
        try configuration.erase()
        #expect(try TestServer.get().psql("SELECT count(*) FROM pg_namespace WHERE nspname = '\(options.schema)'") == "0")
    }
}
