import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Migration, copies, verification, compaction and lost connections of stores with full-text indexes.
@Suite(.withServer) struct SearchMaintenanceTests {
    private func filled(_ options: PostgreSQLOptions = TestServer.options(), _ count: Int64 = 300) throws -> Store {
        let store = try Store(options: options, schema: articleSchema())
        try store.write(
            store.articles((1...count).map { ($0, "the \(articleWords[Int($0) % 13])", $0 % 7 == 0 ? "quick brown fox" : nil) }))
        try store.write(store.retitling(3, "lazy dog"))
        try store.write(store.deletion([4]))
        return store
    }

    private func psql(_ sql: String, _ options: PostgreSQLOptions) throws -> String {
        try TestServer.get().psql(sql.replacingOccurrences(of: "#", with: options.schema + ".polystore_"))
    }

    private func waitUntilBuilt(_ store: Store) throws {
        while try store.read({ try $0.searchStatistics(store.condition("fox")) }) == nil {}
    }

    // MARK: Migration

    /// Returns a schema with other names, and the change to it that carries the articles over.
    private func renaming(_ source: ResolvedSchema, index: [String]) throws -> SchemaChange {
        let target = try ResolvedSchema(
            SchemaDescription(
                name: "Articles 2",
                entities: [
                    EntityDescription(
                        name: "Text",
                        properties: [
                            .attribute(AttributeDescription(name: "heading", type: .string, isOptional: true)),
                            .attribute(AttributeDescription(name: "contents", type: .string, isOptional: true)),
                        ],
                        searchIndexes: index.isEmpty ? [] : [SearchIndexDescription(fields: index)])
                ]))
        let article = try #require(source.entity(named: "Article"))
        let fields = try target.entities[0].fields.map { field in
            let name = field.name == "heading" ? "title" : "body"
            return SchemaChange.FieldSource.field(try #require(article.field(named: name)).index, replacingNullWith: .null)
        }
        return try SchemaChange(
            identifier: "test", source: source, target: target, entities: [.carried(entity: article.index, fields: fields)], links: [])
    }

    private func found(_ text: String, _ store: Store) throws -> [Int64]? {
        let entity = store.schema.entities[0]
        return try store.read {
            try $0.search(SearchRequest(SearchCondition(Search(text), in: entity.searchIndexes[0], of: entity)))?.documents
        }
    }

    @Test(arguments: [false, true])
    func migrationCarriesAnIndexOfUnchangedTextsOver(_ hasReader: Bool) throws {
        var options = TestServer.options()
        if hasReader { options.renamingTime = .milliseconds(10) }
        let store = try filled(options)
        let expected = try store.found("fox")
        let early = hasReader ? try Store(options: options, schema: articleSchema()).backend.beginRead() : nil
        _ = try early?.version
        let change = try renaming(store.schema, index: ["heading", "contents"])
        try store.backend.beginMigration(change).commit()
        if let early { #expect(try early.search(SearchRequest(store.condition("fox")))?.documents == expected) }
        #expect(try psql("SELECT \"index\", entity, fields, \"isComplete\" FROM #search", options) == "1|Text|{heading,contents}|t")
        let new = try Store(options: options, schema: change.target)
        #expect(try found("fox", new) == expected)
        let changes = ChangeSet(new.schema)
        try changes.insert(new.schema.entities[0], rowID: 1000) { $0.setText(0, "fox") }
        try new.write(changes)
        #expect(try found("fox", new) == expected.map { $0 + [1000] })
        early?.end()
        #expect(try Store(options: options, schema: change.target).backend.verify().isEmpty)
    }

    @Test func migrationToOtherFieldsBuildsTheIndexAgain() throws {
        let options = TestServer.options()
        let store = try filled(options)
        let change = try renaming(store.schema, index: ["contents"])
        try store.backend.beginMigration(change).commit()
        #expect(try psql("SELECT \"index\", entity, fields FROM #search", options) == "2|Text|{contents}")
        let new = try Store(options: options, schema: change.target)
        while try found("fox", new) == nil {}
        #expect(try found("fox", new)?.count == 42)
        #expect(try new.backend.verify().isEmpty)
    }

    @Test(arguments: [false, true])
    func migrationToAModelWithoutIndexRemovesTheTables(_ hasReader: Bool) throws {
        var options = TestServer.options()
        if hasReader { options.renamingTime = .milliseconds(10) }
        let store = try filled(options)
        let early = hasReader ? try Store(options: options, schema: articleSchema()).backend.beginRead() : nil
        _ = try early?.version
        let change = try renaming(store.schema, index: [])
        try store.backend.beginMigration(change).commit()
        #expect(try psql("SELECT format FROM #metadata", options) == "2")
        if let early {
            #expect(try early.search(SearchRequest(store.condition("lazy dog")))?.documents.contains(3) == true)
            early.end()
        }
        let new = try Store(options: options, schema: change.target)
        #expect(try new.ids(FetchRequest(new.schema.entities[0])).count == 299)
        let tables =
            "SELECT count(*) FROM pg_class WHERE relnamespace = '\(options.schema)'::regnamespace AND relname LIKE 'polystore_search%'"
        // The opening has completed the migration.
        #expect(try TestServer.get().psql(tables) == "0")
    }

    @Test func migrationToAModelWithAnIndexCreatesTheTables() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema([]))
        try store.write(store.articles([(1, "fox", nil), (2, nil, nil)]))
        let change = try renaming(store.schema, index: ["heading"])
        try store.backend.beginMigration(change).commit()
        let new = try Store(options: options, schema: change.target)
        while try found("fox", new) == nil {}
        #expect(try found("fox", new) == [1])
        #expect(try psql("SELECT format FROM #metadata", options) == "3")
    }

    // MARK: Copies

    @Test func copyHasTheIndexes() throws {
        let store = try filled()
        let target = TestServer.options()
        try store.backend.copy(to: TestServer.get().url(options: "schema=\(target.schema)")) { _ in }
        let copy = try Store(options: target, schema: articleSchema())
        try copy.read { try expectTextsFound(by: $0, copy) }
        try copy.write(copy.articles([(1000, "fox", nil)]))
        try copy.read { try expectTextsFound(by: $0, copy) }
        #expect(try copy.backend.verify().isEmpty)
    }

    @Test func copyOfAStoreWhoseIndexWasRemovedMeanwhileBuildsIt() throws {
        let options = TestServer.options()
        let store = try filled(options)
        _ = try Store(options: options, schema: articleSchema([]))
        let target = TestServer.options()
        try store.backend.copy(to: TestServer.get().url(options: "schema=\(target.schema)")) { _ in }
        let copy = try Store(options: target, schema: articleSchema())
        try waitUntilBuilt(copy)
        try copy.read { try expectTextsFound(by: $0, copy) }
    }

    // MARK: Verification and compaction

    @Test func verificationNamesAnIndexThatDiffersFromTheTexts() throws {
        let options = TestServer.options()
        let store = try filled(options)
        #expect(try store.backend.verify().isEmpty)
        _ = try psql("UPDATE \(options.schema).\"Article\" SET title = 'another' WHERE \"objectID\" = 7", options)
        let findings = try store.backend.verify()
        #expect(findings.contains { $0.contains("Article_title_body_text") && $0.contains("7") }, "\(findings)")
    }

    @Test func damagedPageIsReported() throws {
        let options = TestServer.options()
        let store = try filled(options)
        _ = try psql(
            "UPDATE #search_pages SET v = set_byte(v, length(v) / 2, 255 - get_byte(v, length(v) / 2)) WHERE k <> '\\x53'", options)
        let findings = try store.backend.verify()
        #expect(findings.contains { $0.contains("Article_title_body_text") }, "\(findings)")
        _ = try psql("UPDATE #search_pages SET v = '\\xff' WHERE k = '\\x53'", options)
        let error = #expect(throws: StoreError.self) { try store.found("fox") }
        #expect(error?.code == .corrupt)
        // A writer does not make it worse, and another transaction writes other objects.
        let refused = #expect(throws: StoreError.self) { try store.commit([store.articles([(1000, "fox", nil)])]) }
        #expect(refused?.code == .corrupt)
        let changes = ChangeSet(store.schema)
        try changes.insert(store.entity("Plain"), rowID: 1) { $0.setText(0, "text") }
        try store.commit([changes])
        // Without the index, everything works.
        let other = try Store(options: options, schema: articleSchema([]))
        try other.write(other.articles([(1000, "fox", nil)]))
        let again = try Store(options: options, schema: articleSchema())
        try waitUntilBuilt(again)
        try again.read { try expectTextsFound(by: $0, again) }
    }

    @Test func compactionKeepsWhatIsFound() throws {
        let options = TestServer.options()
        let store = try Store(options: options, schema: articleSchema())
        var changes = ArticleChanges(seed: 11)
        for _ in 0..<40 { try store.commit([changes.changes(store)]) }
        let version = try store.read { try $0.version }
        try store.backend.compact()
        #expect(try store.read { try $0.version } == version)
        try store.read { try expectTextsFound(by: $0, store) }
        #expect(try store.backend.verify().isEmpty)
    }

    // MARK: Round trips of merges

    @Test func commitsThatMergeTakeThreeRoundTrips() throws {
        let proxy = try ConnectionProxy(TestServer.get())
        defer { proxy.stop() }
        let store = try Store(proxy.url(), schema: articleSchema())
        var counts: [Int] = []
        for id in 1...200 as ClosedRange<Int64> {
            let changes = try store.articles([(id, "the quick \(articleWords[Int(id) % 13]) \(id)", "fox \(id % 5)")])
            counts.append(try proxy.awaitedResponses { _ = try store.commit([changes]) })
        }
        #expect(counts.reduce(0, +) <= 2 * counts.count + counts.count / 3, "\(counts)")
        #expect(counts.filter { $0 > 3 }.count <= counts.count / 20, "\(counts)")
        try store.read { try expectTextsFound(by: $0, store) }
    }

    // MARK: Lost connections

    @Test func commitWhoseResponseIsLostIsInTheIndexOnceOrNotAtAll() throws {
        let options = TestServer.options()
        let proxy = try ConnectionProxy(TestServer.get())
        defer { proxy.stop() }
        let store = try Store(proxy.url(), options: options, schema: articleSchema())
        try store.write(store.articles([(1, "fox", nil)]))
        for (id, fault) in [(10, ConnectionProxy.Fault.commitLost), (20, .responseLost)] as [(Int64, ConnectionProxy.Fault)] {
            proxy.failNextCommit(fault)
            let transaction = try store.backend.beginWrite()
            let sets = [try store.articles([(id, "fox \(id)", nil)]), try store.retitling(1, "dog \(id)")]
            let error = #expect(throws: StoreError.self) { try transaction.apply(sets, committing: .full) }
            #expect(error?.recovery == .commitOutcomeUnknown)
            let outcome = try transaction.commitOutcome()
            if case .committed = outcome { #expect(try store.found("\(id)") == [1, id]) } else { #expect(try store.found("\(id)") == []) }
            transaction.rollback()
            try store.read { try expectTextsFound(by: $0, store) }
        }
    }

    @Test func interruptedSearchLeavesItsTransactionUsable() throws {
        let store = try filled()
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.articles([(1000, "fox", nil)]))
        let interruption = Interruption()
        transaction.interruption = interruption
        interruption.cancel()
        let error = #expect(throws: StoreError.self) { try transaction.search(SearchRequest(store.condition("fox"))) }
        #expect(error?.code == .cancelled)
        transaction.interruption = nil
        try expectTextsFound(by: transaction, store)
        _ = try transaction.commit(.relaxed)
        try store.read { try expectTextsFound(by: $0, store) }
    }
}
