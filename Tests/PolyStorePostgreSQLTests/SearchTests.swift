import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import Testing

@testable import PolyStorePostgreSQL

/// Full-text indexes of stores on a server: what transactions write to them and find by them.
@Suite(.withServer) struct SearchTests {
    private func store(_ options: PostgreSQLOptions = TestServer.options()) throws -> Store {
        try Store(options: options, schema: articleSchema())
    }

    @Test func insertedArticlesAreFound() throws {
        let store = try store()
        #expect(try store.found("fox") == [])
        try store.commit([store.articles([(1, "The quick fox", nil), (2, nil, "a lazy dog"), (3, nil, nil), (-4, "Fox", "fox\u{0}fox")])])
        #expect(try store.found("fox") == [-4, 1])
        #expect(try store.found("lazy dog") == [2])
        #expect(try store.found("title:lazy") == [])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func updatedAndDeletedArticlesAreFoundByTheirPresentTexts() throws {
        let store = try store()
        try store.commit([store.articles([(1, "fox", "dog"), (2, "fox", nil), (3, "dog", nil)])])
        try store.commit([store.retitling(1, "brown"), store.deletion([2])])
        #expect(try store.found("fox") == [])
        #expect(try store.found("brown dog") == [1])
        try store.commit([store.retitling(1, nil)])
        #expect(try store.found("dog") == [1, 3])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func setsOfAGroupThatChangeTheSameArticleAreAppliedInTheirOrder() throws {
        let store = try store()
        let both = try store.retitling(1, "lazy")
        try store.commit([
            store.articles([(1, "fox", "dog"), (2, "fox", nil)]), store.retitling(1, "brown"), both, store.deletion([2]),
            store.articles([(2, "again", nil)]),
        ])
        #expect(try store.found("fox") == [])
        #expect(try store.found("brown") == [])
        #expect(try store.found("lazy dog") == [1])
        #expect(try store.found("again") == [2])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func refusedSetsOfAGroupLeaveNothingInTheIndex() throws {
        let store = try store()
        let first = try store.articles([(1, "fox", nil)])
        let refused = try store.articles([(1, "dog", nil), (2, "dog", nil)])
        let missing = try store.retitling(99, "dog")
        let last = try store.articles([(3, "lazy", nil)])
        let results = try store.commit([first, refused, missing, last])
        #expect(results.errors.map { $0 == nil } == [true, false, false, true])
        #expect(try store.found("dog") == [])
        #expect(try store.found("fox OR lazy") == [1, 3])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func refusedSetAfterOthersOfItsTransactionLeavesThoseInTheIndex() throws {
        let store = try store()
        try store.write(store.articles([(1, "fox", nil)]))
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.articles([(2, "brown fox", nil)]))
        try transaction.apply(store.retitling(1, "quick fox"))
        #expect(throws: StoreError.self) { try transaction.apply(store.articles([(2, "dog", nil)])) }
        let results = try transaction.apply([store.articles([(1, "dog", nil)])], committing: .relaxed)
        #expect(results.version == nil)
        try transaction.apply(store.articles([(5, "lazy dog", nil)]))
        _ = try transaction.commit(.relaxed)
        #expect(try store.found("dog") == [5])
        #expect(try store.found("fox") == [1, 2])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test(arguments: [false, true], [false, true])
    func groupWithARefusedSetLeavesWhatWasAppliedBefore(_ touchesTexts: Bool, _ isCommitting: Bool) throws {
        let store = try store()
        try store.write(store.articles([(1, "fox", nil)]))
        for (id, sets) in [(10, 1), (20, 2)] as [(Int64, Int)] {
            let transaction = try store.backend.beginWrite()
            try transaction.apply(store.articles([(id, "lazy \(id)", nil)]))
            if sets == 2 { _ = try transaction.apply([store.retitling(id, "brown \(id)"), store.retitling(1, "dog")], committing: nil) }
            let plain = ChangeSet(store.schema)
            try plain.insert(store.entity("Plain"), rowID: id) { $0.setText(0, "text") }
            let refused = ChangeSet(store.schema)
            try refused.insert(store.entity("Plain"), rowID: id) { $0.setText(0, "text") }
            if touchesTexts { try refused.insert(store.article, rowID: id + 1) { $0.setText(0, "quick") } }
            let results = try transaction.apply([plain, refused], committing: isCommitting ? .relaxed : nil)
            #expect(results.errors.map { $0 == nil } == [true, false])
            _ = try transaction.commit(.relaxed)
            #expect(try store.found("\(id)") == [id])
            #expect(try store.found("quick") == [])
            try store.read { try expectTextsFound(by: $0, store) }
        }
        #expect(try store.backend.verify().isEmpty)
    }

    @Test func transactionFindsWhatItHasApplied() throws {
        let store = try store()
        try store.write(store.articles([(1, "fox", nil)]))
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.articles([(2, "fox", nil)]))
        try expectTextsFound(by: transaction, store)
        try transaction.apply(store.retitling(1, "dog"))
        try transaction.apply(store.deletion([2]))
        try expectTextsFound(by: transaction, store)
        try transaction.apply(store.articles([(3, "fox", "the")]))
        _ = try transaction.commit(.relaxed)
        #expect(try store.found("fox") == [3])
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func transactionThatIsRolledBackLeavesNothingInTheIndex() throws {
        let store = try store()
        let transaction = try store.backend.beginWrite()
        try transaction.apply(store.articles([(1, "fox", nil)]))
        #expect(try transaction.search(SearchRequest(store.condition("fox")))?.documents == [1])
        transaction.rollback()
        #expect(try store.found("fox") == [])
        try store.write(store.articles([(2, "fox", nil)]))
        #expect(try store.found("fox") == [2])
    }

    @Test func snapshotFindsWhatItsVersionContains() throws {
        let store = try store()
        try store.write(store.articles([(1, "fox", nil)]))
        let reader = try store.backend.beginRead()
        defer { reader.end() }
        #expect(try reader.version == 1)
        try store.write(store.articles([(2, "fox", nil)]))
        #expect(try reader.search(SearchRequest(store.condition("fox")))?.documents == [1])
        #expect(try store.found("fox") == [1, 2])
    }

    @Test func copiedRowsAreFound() throws {
        let store = try store()
        let count = Int64(ChangeWriter.leastCopied)
        try store.commit([store.articles((1...count).map { ($0, "number \($0)", $0 % 1000 == 0 ? "fox" : nil) })])
        #expect(try store.found("fox")?.count == 20)
        #expect(try store.found("\"number 19999\"") == [19_999])
        try store.commit([store.deletion(Array(1...count / 2))])
        #expect(try store.found("fox")?.count == 10)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomChangesAreFoundAsTheTextsAre(_ seed: UInt64) throws {
        let options = TestServer.options()
        let store = try store(options)
        var changes = ArticleChanges(seed: seed)
        for round in 0..<60 {
            switch Int.random(in: 0..<3, using: &changes.generator) {
            case 0: try store.write(changes.changes(store))
            case 1: try store.commit((0..<3).map { _ in try changes.changes(store, most: 3) })
            default:
                let transaction = try store.backend.beginWrite()
                for _ in 0..<3 { try transaction.apply(changes.changes(store, most: 4)) }
                if round % 5 == 0 { try expectTextsFound(by: transaction, store) }
                _ = try transaction.commit(.relaxed)
            }
            if round % 10 == 9 { try store.read { try expectTextsFound(by: $0, store) } }
        }
        let other = try Store(options: options, schema: articleSchema())
        try other.read { try expectTextsFound(by: $0, other) }
    }

    @Test func searchesThroughATransactionPoolerFindTheSame() throws {
        let pooler = try TransactionPooler(TestServer.get())
        let store = try Store(pooler.url(options: "pooler=transaction"), schema: articleSchema())
        var changes = ArticleChanges(seed: 5)
        for _ in 0..<10 { try store.commit([changes.changes(store), changes.changes(store)]) }
        try store.read { try expectTextsFound(by: $0, store) }
    }

    @Test func pagesAreKeptWithinTheirTable() throws {
        let options = TestServer.options()
        let store = try store(options)
        try store.commit([store.articles((1...3000).map { ($0, "word\($0) word\($0 % 700) fox", "dog \($0)") })])
        let sizes = try TestServer.get().psql(
            "SELECT max(length(v)) BETWEEN 3000 AND 4000, pg_relation_size(reltoastrelid) = 0 FROM \(options.schema).polystore_search_pages, pg_class c "
                + "WHERE c.oid = '\(options.schema).polystore_search_pages'::regclass GROUP BY reltoastrelid")
        #expect(sizes == "t|t")
    }
}
