import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Write transactions whose changes a full-text index could not take. They are never committed, not even by a caller that catches the error.
@Suite(.withServer) struct SearchFailureTests {
    private func filled(_ options: PostgreSQLOptions) throws -> Store {
        let indexes = [
            SearchIndexDescription(fields: ["title", "body"], weights: [2, 1]), SearchIndexDescription(name: "titles", fields: ["title"]),
        ]
        let store = try Store(options: options, schema: articleSchema(indexes))
        try store.write(
            store.articles((1...100).map { ($0, "the \(articleWords[Int($0) % 13])", $0 % 7 == 0 ? "quick brown fox" : nil) }))
        return store
    }

    private func psql(_ sql: String, _ options: PostgreSQLOptions) throws {
        _ = try TestServer.get().psql(sql.replacingOccurrences(of: "#", with: options.schema + ".polystore_"))
    }

    /// Damages the structure of an index. A second call repairs it.
    private func invertStructure(_ index: Int, _ options: PostgreSQLOptions) throws {
        try psql(
            "UPDATE #search_pages SET v = set_byte(v, length(v) / 2, 255 - get_byte(v, length(v) / 2)) WHERE \"index\" = \(index) AND k = '\\x53'",
            options)
    }

    /// Checks that neither the objects nor the indexes have changed, and that later changes are in both.
    private func expectUnchanged(_ store: Store) throws {
        #expect(try store.ids(FetchRequest(store.article)).count == 100)
        for index in 0..<2 { try store.read { try expectTextsFound(by: $0, store, index: index) } }
        #expect(try store.backend.verify() == [])
        try store.write(store.articles([(1000, "lazy fox", nil)]))
        for index in 0..<2 { try store.read { try expectTextsFound(by: $0, store, index: index) } }
    }

    @Test(arguments: [1, 2], [false, true])
    func transactionWhoseSearchDidNotWriteTheIndexIsNotCommitted(_ index: Int, _ isGroup: Bool) throws {
        let options = TestServer.options()
        let store = try filled(options)
        try invertStructure(index, options)
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.articles([(1000, "lazy fox", nil)]))
        let failed = #expect(throws: StoreError.self) { _ = try transaction.searchStatistics(store.condition("fox")) }
        #expect(failed?.code == .corrupt)
        try invertStructure(index, options)
        // Also a search after the repair does not make the transaction usable.
        #expect(throws: StoreError.self) { _ = try transaction.search(SearchRequest(store.condition("fox"))) }
        let error = #expect(throws: StoreError.self) {
            if isGroup {
                let results = try transaction.apply([store.articles([(1001, "dog", nil)])], committing: .relaxed)
                if results.version == nil { _ = try transaction.commit(.relaxed) }
            } else {
                _ = try transaction.commit(.relaxed)
            }
        }
        #expect(error?.code == .corrupt)
        transaction.rollback()
        try expectUnchanged(store)
    }

    /// The row of the index disappears, so that the error follows the change of the objects.
    @Test(arguments: [false, true], [false, true])
    func transactionWhoseTextsWereNotAddedIsNotCommitted(_ isGroup: Bool, _ appliesMore: Bool) throws {
        let options = TestServer.options()
        let store = try filled(options)
        try psql("DELETE FROM #search WHERE \"index\" = 1", options)
        let transaction = try store.backend.beginWrite()
        let changes = try store.articles([(1000, "lazy fox", nil)])
        let failed = #expect(throws: StoreError.self) {
            if isGroup { _ = try transaction.apply([changes], committing: nil) } else { try transaction.apply(changes) }
        }
        #expect(failed?.code == .corrupt)
        try psql(
            "INSERT INTO #search (\"index\", entity, fields, stemming, \"isComplete\") VALUES (1, 'Article', '{title,body}', 'none', true)",
            options)
        if appliesMore { #expect(throws: StoreError.self) { try transaction.apply(store.articles([(1001, "dog", nil)])) } }
        let error = #expect(throws: StoreError.self) { try transaction.commit(.relaxed) }
        #expect(error?.code == .corrupt)
        transaction.rollback()
        try expectUnchanged(store)
    }
}
