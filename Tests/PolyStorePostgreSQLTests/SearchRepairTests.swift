import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PolyStoreSearchIndex
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Indexes that are built again from the records, and compactions that merge them.
@Suite(.withServer) struct SearchRepairTests {
    private static let titles = SearchIndexDescription(name: "titles", fields: ["title"])
    private static let both = SearchIndexDescription(fields: ["title", "body"], weights: [2, 1])

    private func filled(_ options: PostgreSQLOptions, _ count: Int64 = 300) throws -> Store {
        let store = try Store(options: options, schema: articleSchema([Self.both, Self.titles]))
        try store.write(
            store.articles((1...count).map { ($0, "the \(articleWords[Int($0) % 13])", $0 % 7 == 0 ? "quick brown fox" : nil) }))
        return store
    }

    private func psql(_ sql: String, _ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(sql.replacingOccurrences(of: "#", with: options.schema + "."))
    }

    private func failure(_ body: () throws -> Void) -> StoreError? { #expect(throws: StoreError.self) { try body() } }

    private func rebuild(_ store: Store, _ names: Set<String>? = nil) throws {
        try #require(store.backend as? any RebuildsIndexes).rebuildIndexes(names)
    }

    /// Returns what an index of a store contains.
    private func summary(_ store: Store, _ number: UInt32) throws -> SearchIndexSummary {
        let transaction = try #require(try store.backend.beginRead() as? PostgreSQLReadTransaction)
        defer { transaction.end() }
        let searches = try #require(try transaction.searches())
        let index = try #require(searches.indexes.first { $0.number == number })
        return try SearchIndexReader(searches.storage.pages(of: index), fields: index.fields.count, limits: searches.storage.limits)
            .summary()
    }

    // MARK: Repair

    @Test(arguments: [
        "UPDATE #polystore_search_pages SET v = set_byte(v, length(v) / 2, 255 - get_byte(v, length(v) / 2)) WHERE \"index\" = 1 AND k <> '\\x53'",
        "UPDATE #polystore_search_pages SET v = '\\xff' WHERE \"index\" = 1 AND k = '\\x53'",
        "DELETE FROM #polystore_search_pages WHERE \"index\" = 1 AND k < '\\x4d'",
        "DELETE FROM #polystore_search_pages WHERE \"index\" = 1",
        "UPDATE #\"Article\" SET body = 'lazy by another program' WHERE \"objectID\" % 3 = 0",
        "DELETE FROM #\"Article\" WHERE \"objectID\" % 3 = 0",
        "INSERT INTO #\"Article\" (\"objectID\", title) VALUES (9000, 'lazy by another program')",
    ]) func damagedIndexIsRepaired(_ sql: String) throws {
        let options = TestServer.options()
        let store = try filled(options)
        #expect(try store.backend.verify() == [])
        _ = try psql(sql, options)
        let before = try store.backend.verify()
        #expect(before.contains { $0.contains("Article_title_body_text") }, "\(before)")
        // The other index stays as it is.
        try rebuild(store, ["Article_title_text"])
        let other = try store.backend.verify()
        #expect(
            other.contains { $0.contains("Article_title_body_text") } && !other.contains { $0.contains("Article_title_text") }, "\(other)")
        let version = try store.read { try $0.version }
        try rebuild(store, ["Article_title_body_text"])
        #expect(try store.backend.verify() == [])
        #expect(try store.read { try $0.version } == version)
        try store.read { try expectTextsFound(by: $0, store) }
        try store.write(store.articles([(10_000, "the lazy dog", nil)]))
        try store.read { try expectTextsFound(by: $0, store) }
        // All indexes are built again in one call, and another store object uses them.
        try rebuild(store)
        let again = try Store(options: options, schema: articleSchema([Self.both, Self.titles]))
        try again.read { try expectTextsFound(by: $0, again) }
        #expect(try again.backend.verify() == [])
    }

    @Test func indexIsBuiltAgainWhileAnotherStoreWrites() throws {
        let options = TestServer.options()
        let store = try filled(options, 4_500)
        let other = try Store(options: options, schema: articleSchema([Self.both, Self.titles]))
        let isDone = Protected(false)
        let rounds = inBackground {
            var round: Int64 = 0
            while !isDone.withLock({ $0 }) {
                round += 1
                try other.commit([
                    other.articles([(20_000 + round, "lazy \(round)", nil), (-round, nil, "dog \(round)")]),
                    other.retitling(1 + round % 4_500, "the fox \(round)"),
                ])
            }
            return round
        }
        let result = Result { try rebuild(store, ["Article_title_body_text"]) }
        isDone.withLock { $0 = true }
        #expect(try rounds().get() > 0)
        try result.get()
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try store.backend.verify() == [])
    }

    @Test func missingPlainIndexIsCreatedAndOthersAreBuiltAgain() throws {
        let options = TestServer.options()
        let store = try filled(options)
        _ = try psql("ALTER TABLE #\"Article\" DROP CONSTRAINT \"Article_code\"", options)
        #expect(try store.backend.verify() == ["The index Article_code is missing."])
        try rebuild(store, ["Article_code"])
        #expect(try store.backend.verify() == [])
        try rebuild(store, ["Article_code"])
        _ = try psql("UPDATE #\"Article\" SET code = 'x' WHERE \"objectID\" = 7", options)
        let twice = failure {
            let changes = ChangeSet(store.schema)
            try changes.insert(store.article, rowID: 9_000) { $0.setText(2, "x") }
            try store.write(changes)
        }
        #expect(twice?.code == .constraint)
        let error = failure { try rebuild(store, ["Article_cod"]) }
        #expect(error?.code == .notFound)
        #expect(
            error?.message.contains("It has Article_code, Article_title_body_text, Article_title_text.") == true, "\(error?.message ?? "")")
    }

    /// A snapshot that has used an index prevents its rebuild. The error of the rebuild names the session that has locked the table.
    @Test func openSnapshotMakesTheRebuildBusy() throws {
        var options = TestServer.options()
        options.lockTimeout = .milliseconds(20)
        let store = try filled(options, 20)
        let snapshot = try store.backend.beginRead()
        _ = try snapshot.count(FetchRequest(store.article))
        let error = failure { try rebuild(store, ["Article_code"]) }
        #expect(error?.code == .busy)
        #expect(error?.message.contains("has locked") == true && error?.message.contains("Article") == true, "\(error?.message ?? "")")
        // Neither a lock nor a change remains.
        try store.write(store.retitling(3, "lazy dog"))
        #expect(try snapshot.count(FetchRequest(store.article)) == 20)
        snapshot.end()
        try rebuild(store)
        #expect(try store.backend.verify() == [])
    }

    @Test func storeThatWasMigratedMeanwhileIsNotChanged() throws {
        let options = TestServer.options()
        let store = try filled(options, 20)
        let schema = try ResolvedSchema(
            SchemaDescription(
                name: "Articles 2",
                entities: [
                    EntityDescription(
                        name: "Article",
                        properties: ["title", "body", "code"].map {
                            .attribute(AttributeDescription(name: $0, type: .string, isOptional: true))
                        })
                ]))
        let fields = try schema.entities[0].fields.map { field in
            SchemaChange.FieldSource.field(try #require(store.article.field(named: field.name)).index, replacingNullWith: .null)
        }
        let change = try SchemaChange(
            identifier: "test", source: store.schema, target: schema, entities: [.carried(entity: store.article.index, fields: fields)],
            links: [])
        let other = try Store(options: options, schema: articleSchema([Self.both, Self.titles]))
        try other.backend.beginMigration(change).commit()
        for names in [nil, ["Article_code"]] as [Set<String>?] {
            #expect(failure { try rebuild(store, names) }?.code == .differentStoreAtURL)
        }
        let constraints = "SELECT count(*) FROM pg_constraint WHERE conrelid = '#\"Article\"'::regclass AND contype = 'u'"
        #expect(try psql(constraints, options) == "0")
    }

    /// Pages of before are not damage while the index is built again.
    @Test func verificationFindsNothingInAnIndexWhoseRebuildHasBegun() throws {
        let options = TestServer.options()
        let store = try filled(options)
        _ = try psql("UPDATE #polystore_search SET \"isComplete\" = false, built = NULL", options)
        #expect(try store.backend.verify() == [])
        try store.backend.compact()
        try store.write(store.retitling(3, "lazy dog"))
        #expect(try store.backend.verify() == [])
        try rebuild(store)
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try store.backend.verify() == [])
    }

    @Test func readOnlyStoreIsNotRebuilt() throws {
        let options = TestServer.options()
        _ = try filled(options, 10)
        let store = try Store(options: options, schema: articleSchema([Self.both, Self.titles]), isReadOnly: true)
        #expect(failure { try rebuild(store, ["unknown"]) }?.code == .readOnly)
    }

    @Test func errorsOfWritesNameTheEntityAndTheIndex() throws {
        let options = TestServer.options()
        let store = try filled(options)
        _ = try psql("INSERT INTO #\"Article\" (\"objectID\", title) VALUES (9000, 'lazy by another program')", options)
        let unknown = failure { try store.write(store.retitling(9000, "fox")) }
        _ = try psql("UPDATE #polystore_search_pages SET v = '\\xff' WHERE \"index\" = 2 AND k = '\\x53'", options)
        let damaged = failure { try store.write(store.retitling(7, "fox")) }
        for (error, name) in [(unknown, "Article_title_"), (damaged, "Article_title_text")] {
            #expect(error?.code == .corrupt && error?.entity == "Article")
            #expect(error?.message.contains("The full-text index \(name)") == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("of Article in ") == true && error?.message.contains("call rebuildIndexes") == true)
        }
        // The damaged index does not keep the rest from being compacted.
        try store.backend.compact()
        try rebuild(store)
        try store.write(store.retitling(9000, "fox"))
        #expect(try store.backend.verify() == [])
    }

    // MARK: Compaction

    @Test func compactionMergesAllSegmentsOfEachIndex() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema([Self.both, Self.titles]))
        var changes = ArticleChanges(seed: 3)
        for _ in 0..<30 { try store.commit([changes.changes(store)]) }
        #expect(try summary(store, 1).segments > 1)
        let version = try store.read { try $0.version }
        // Another store object has not read the indexes yet.
        try Store(options: options, schema: articleSchema([Self.both, Self.titles])).backend.compact()
        for number in [1, 2] as [UInt32] {
            let found = try summary(store, number)
            #expect((found.segments, found.merges) == (1, 0), "index \(number)")
        }
        #expect(try store.read { try $0.version } == version)
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try store.backend.verify() == [])
        try store.commit([changes.changes(store)])
        try store.read { try expectTextsFound(by: $0, store) }
    }
}
