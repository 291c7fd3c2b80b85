import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class RatedText {
    var text: String = ""
    var other: String?
    var rating: Double = 0
    var label: String?
    @Relationship(inverse: "source") var quotes: [RatedQuote]
    #Search(\.text, \.other)
}

@Model
final class RatedQuote {
    var words: String = ""
    @Relationship var source: RatedText?
    #Search(\.words)
}

/// Scores of full-text searches as values in transactions.
@Suite struct SearchValueTests {
    private static func stack(_ backend: Backend, in folder: Folder) throws -> DataStack {
        let stack = try DataStack(Schema("Rated", RatedText.self, RatedQuote.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction in
            for (index, text) in ["lazy dog", "quick fox", "fox fox", "nothing"].enumerated() {
                let made = try transaction.create(Into<RatedText>())
                (made.text, made.label) = (text, "\(index)")
                let quote = try transaction.create(Into<RatedQuote>())
                (quote.words, quote.source) = ("a quote of \(text)", made)
            }
        }
        return stack
    }

    private static func labels(_ context: Context, _ source: FetchChain<RatedText>) throws -> [String?] {
        try context.fetchAll(source.orderBy(.ascending(\.label))).map(\.label)
    }

    @Test(arguments: Backend.forObjectLayer) func conditionsOnScoresSelectPendingObjects(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        let query = From<RatedText>().where { $0.searchScore("fox") > 0 }
        try stack.performAndWait { transaction throws in
            for number in 0..<100 {
                let made = try transaction.create(Into<RatedText>())
                (made.text, made.label) = (number == 70 ? "unsaved fox" : "unsaved", "a\(100 + number)")
            }
            #expect(try Self.labels(transaction, query) == ["1", "2", "a170"])
            #expect(try transaction.fetchCount(query) == 3)
            #expect(try transaction.fetchCount(query.offset(1)) == 2)
            #expect(try Self.labels(transaction, query.where(\.label == "a170")) == ["a170"])
            let first = try #require(try transaction.fetchOne(From<RatedText>().where(\.label == "0")))
            try transaction.edit(first).text = "dog and fox"
            let second = try #require(try transaction.fetchOne(From<RatedText>().where(\.label == "2")))
            try transaction.delete(second)
            #expect(try Self.labels(transaction, query) == ["0", "1", "a170"])
            #expect(try transaction.fetchCount(query) == 3)
            #expect(try transaction.queryValue(query.tweak { $0.includesPendingChanges = true }, .count) == 3)
            let child = transaction.beginUnsafe()
            #expect(try child.fetchCount(query) == 3)
            #expect(try child.fetchAll(query).count == 3)
        }
        #expect(try stack.readAndWait { try Self.labels($0, query) }.count == 3)
    }

    @Test(arguments: Backend.forObjectLayer) func batchUpdatesCanSetScores(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        let expected = try stack.readAndWait { try $0.queryRows(From<RatedText>().orderBy { $0.label }.select { $0.searchScore("fox") }) }
        try stack.performAndWait { transaction throws in
            #expect(try transaction.batchUpdate(From<RatedText>()) { $0.set(\.rating) { $0.searchScore("fox") } } == 4)
        }
        let found = try stack.readAndWait { try $0.fetchAll(From<RatedText>().orderBy(.ascending(\.label))).map(\.rating) }
        #expect(found == expected)
        #expect(found.filter { $0 > 0 }.count == 2)
    }

    @Test(arguments: Backend.forObjectLayer) func objectsAreCreatedForConditionsOnScores(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        try stack.performAndWait { transaction throws in
            let made = try transaction.fetchOrCreate(From<RatedText>().where { $0.text == "a hen" && $0.searchScore("hen") > 0 })
            #expect(made.text == "a hen")
            #expect(try transaction.fetchOrCreate(From<RatedText>().where { $0.text == "a hen" && $0.searchScore("hen") > 0 }) === made)
            expectError(.invalidPredicate) {
                try transaction.fetchOrCreate(From<RatedText>().where { $0.text == "a cat" && $0.searchScore("hen") > 0 })
            }
            let query = From<RatedText>().where { $0.label == "2" && $0.searchScore("fox") > 0 }
            try transaction.upsert(query, insert: { $0.other = "new" }, update: { $0.other = "old" })
            #expect(try transaction.fetchOne(query)?.other == "old")
        }
    }

    /// Pending objects of other entities do not change the best matches, so that only these are read.
    @Test(arguments: Backend.forObjectLayer) func unrelatedPendingObjectsLeaveTheLimitToTheStore(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        try stack.performAndWait { transaction throws in
            try transaction.create(Into<RatedQuote>()).words = "unrelated"
            let query = From<RatedText>().search("fox").limit(1)
            let (found, plans) = try transaction.explaining { try transaction.fetchAll(query).map(\.label) }
            #expect(found == ["2"])
            #expect(plans.map(\.rowsReturned) == [1])
            // Related objects still count.
            let byQuotes = From<RatedText>().where { $0.search("fox") && $0.quotes.any { $0.search("unrelated") } }
            #expect(try transaction.fetchAll(byQuotes).isEmpty)
            let quote = try #require(try transaction.fetchOne(From<RatedQuote>().where(\.words == "unrelated")))
            quote.source = try transaction.fetchOne(From<RatedText>().where(\.label == "1"))
            #expect(try Self.labels(transaction, byQuotes) == ["1"])
            #expect(try transaction.fetchCount(byQuotes) == 1)
        }
    }

    @MainActor @Test(arguments: Backend.forObjectLayer) func listsFilteredByASearchReadNoOtherObjects(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        let filtered = try stack.view.monitorList(From<RatedText>().where { $0.search("fox") }.orderBy(.ascending(\.label)))
        let scored = try stack.view.monitorList(From<RatedText>().where { $0.searchScore("fox") > 0 }.orderBy(.ascending(\.label)))
        #expect(try !filtered.explain().contains("fetched again"))
        #expect(try scored.explain().contains("fetched again"))
        try stack.performAndWait { transaction throws in
            let first = try #require(try transaction.fetchOne(From<RatedText>().where(\.label == "0")))
            try transaction.edit(first).text = "a fox now"
            let second = try #require(try transaction.fetchOne(From<RatedText>().where(\.label == "1")))
            try transaction.edit(second).text = "no longer"
        }
        #expect(filtered.map(\.label) == ["0", "2"])
        #expect(scored.map(\.label) == ["0", "2"])
    }

    @Test(arguments: Backend.forObjectLayer) func countsHaveEveryLimit(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        try stack.readAndWait { context throws in
            let query = From<RatedText>().search("fox")
            for (limit, count) in [(0, 0), (1, 1), (2, 2), (65536, 2), (65537, 2), (Int.max, 2)] {
                #expect(try context.fetchCount(query.limit(limit)) == count, "\(limit)")
                #expect(try context.fetchAll(query.limit(limit)).count == count, "\(limit)")
                #expect(
                    try context.fetchAll(query.limit(limit).offset(1)).count == max(0, min(count, 2) - (limit == 1 ? 0 : 1)), "\(limit)")
            }
            #expect(try context.fetchAll(query.limit(.max).offset(.max)).isEmpty)
        }
    }

    @Test(arguments: Backend.forObjectLayer) func plansNameSearchesAtAnyDepthWithoutTheirHits(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, in: folder)
        try stack.performAndWait { transaction throws in
            for number in 0..<200 { try transaction.create(Into<RatedText>()).text = "hare \(number)" }
        }
        try stack.readAndWait { context throws in
            let text = try context.explain(From<RatedText>().where { !($0.search("hare") || $0.quotes.any { $0.search("fox") }) })
            for part in ["SEARCH \"hare\"", "SEARCH \"fox\""] { #expect(text.contains(part), "\(part) in \(text)") }
            let json = try context.plans(From<RatedText>().where { $0.search("hare") || $0.rating > 5 }).map(\.json).joined()
            #expect(!json.contains("100, 101, 102, 103"), "\(json)")
            let named = From<RatedText>().where(format: "text IN %@", (0..<30).map { "t\($0)" })
            #expect(try context.explain(named).contains("\"t19\", … (30)}"))
        }
    }
}
