import Foundation
import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PostgreSQLServer
import SeededRandom
import Testing

@testable import PolyStorePostgreSQL

/// A model of articles with full-text indexes.
func articleSchema(
    _ indexes: [SearchIndexDescription] = [SearchIndexDescription(fields: ["title", "body"], weights: [2, 1])], isUnique: Bool = true
) throws -> ResolvedSchema {
    try ResolvedSchema(
        SchemaDescription(
            name: "Articles",
            entities: [
                EntityDescription(
                    name: "Article",
                    properties: [
                        .attribute(AttributeDescription(name: "title", type: .string, isOptional: true)),
                        .attribute(AttributeDescription(name: "body", type: .string, isOptional: true)),
                        .attribute(AttributeDescription(name: "code", type: .string, isOptional: true, isUnique: isUnique)),
                    ], searchIndexes: indexes),
                EntityDescription(
                    name: "Plain", properties: [.attribute(AttributeDescription(name: "text", type: .string, isOptional: true))]),
            ]))
}

extension Store {
    var article: Entity { get throws { try entity("Article") } }

    /// Returns a change set that inserts articles.
    func articles(_ rows: [(id: Int64, title: String?, body: String?)]) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        for row in rows {
            try changes.insert(article, rowID: row.id) { record in
                if let title = row.title { record.setText(0, title) }
                if let body = row.body { record.setText(1, body) }
            }
        }
        return changes
    }

    /// Returns a change set that replaces the title of an article.
    func retitling(_ id: Int64, _ title: String?) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        var mask = FieldMask()
        mask.insert(0)
        try changes.update(article, rowID: id, mask: mask) { if let title { $0.setText(0, title) } }
        return changes
    }

    func deletion(_ ids: [Int64]) throws -> ChangeSet {
        let changes = ChangeSet(schema)
        for id in ids { changes.delete(try article, rowID: id) }
        return changes
    }

    /// Applies change sets and commits them with one request.
    @discardableResult
    func commit(_ sets: [ChangeSet]) throws -> AppliedChangeSets {
        let transaction = try backend.beginWrite()
        let results = try transaction.apply(sets, committing: .relaxed)
        if results.version == nil { _ = try transaction.commit(.relaxed) }
        return results
    }

    func condition(_ text: String, index: Int = 0) throws -> SearchCondition {
        let article = try article
        return try SearchCondition(Search(text), in: article.searchIndexes[index], of: article)
    }

    /// Returns the ids that a search by the index finds; nil if no index serves it.
    func found(_ text: String) throws -> [Int64]? {
        try read { try $0.search(SearchRequest(condition(text)))?.documents }
    }
}

/// The words of the articles of tests, from frequent to rare.
let articleWords = ["the", "of", "fox", "dog", "lazy", "quick", "brown", "jumps", "naïve", "C++", "e-mail", "東京都", "straße"]

/// Searches of many kinds.
let articleSearches = [
    "the", "fox dog", "\"quick brown\"", "la*", "the -fox", "title:dog", "fox OR lazy", "NEAR(the fox, 3)", "naive", "c++", "e-mail", "東京",
    "strasse", "absent",
    "",
]

/// Checks that an index finds what the texts contain, with the same statistics and the same scores to the bit.
func expectTextsFound(
    by reader: any ReadTransaction, _ store: Store, index: Int = 0, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let article = try store.article
    var texts: [(id: Int64, texts: [String?])] = []
    let cursor = try reader.fetch(FetchRequest(article))
    while try cursor.next() {
        if let found = article.searchIndexes[index].texts(of: cursor.record) { texts.append((cursor.rowID, found)) }
    }
    cursor.close()
    texts.sort { $0.id < $1.id }
    for text in articleSearches {
        let condition = try store.condition(text, index: index)
        let matcher = SearchMatcher(condition.search, condition.index.options)
        var expected = SearchStatistics(documents: texts.count, tokens: 0, frequencies: condition.search.phrases.map { _ in 0 })
        for document in texts {
            let (contains, length) = matcher.frequencies(document.texts)
            expected.tokens += length
            for (phrase, found) in contains.enumerated() where found { expected.frequencies[phrase] += 1 }
        }
        let statistics = try reader.searchStatistics(condition)
        #expect(statistics == expected, "\(text)", sourceLocation: sourceLocation)
        let rank = SearchRank(expected, weights: condition.index.weights)
        let scored = texts.compactMap { document in
            matcher.match(document.texts).map { (id: document.id, score: $0.score(rank, condition.search)) }
        }
        let hits = try reader.search(SearchRequest(condition, scoredBy: expected))
        #expect(hits?.documents == scored.map(\.id), "\(text)", sourceLocation: sourceLocation)
        #expect(hits?.scores.map(\.bitPattern) == scored.map(\.score.bitPattern), "\(text)", sourceLocation: sourceLocation)
        let best = scored.sorted { ($1.score, $0.id) < ($0.score, $1.id) }.prefix(5)
        let first = try reader.search(SearchRequest(condition, scoredBy: expected, limit: 5))
        #expect(first?.documents == best.map(\.id), "\(text)", sourceLocation: sourceLocation)
    }
}

/// Random changes of articles, with the articles that exist.
struct ArticleChanges {
    var generator: SplitMix64
    private(set) var ids: Set<Int64>
    private var next: Int64

    /// - Parameters:
    ///   - ids: The ids of the articles that exist.
    ///   - next: The id of the first one that is inserted.
    init(seed: UInt64, ids: Set<Int64> = [], next: Int64 = 1) {
        (generator, self.ids, self.next) = (SplitMix64(seed: seed), ids, next)
    }

    mutating func text() -> String? {
        if Int.random(in: 0..<8, using: &generator) == 0 { return nil }
        let count = Int.random(in: 0...12, using: &generator)
        // Lower positions are more frequent.
        return (0..<count).map { _ in
            let last = Int.random(in: 0..<articleWords.count, using: &generator)
            return articleWords[Int.random(in: 0...last, using: &generator)]
        }.joined(separator: " ")
    }

    /// Returns a change set with several changes.
    mutating func changes(_ store: Store, most: Int = 12) throws -> ChangeSet {
        let changes = ChangeSet(store.schema)
        var touched: Set<Int64> = []
        for _ in 0..<Int.random(in: 1...most, using: &generator) {
            let existing = ids.subtracting(touched).sorted()
            switch Int.random(in: 0..<4, using: &generator) {
            case 0, 1:
                let (title, body) = (text(), text())
                try changes.insert(store.article, rowID: next) { record in
                    if let title { record.setText(0, title) }
                    if let body { record.setText(1, body) }
                }
                ids.insert(next)
                touched.insert(next)
                next += Int64.random(in: 1...200, using: &generator)
            case 2:
                guard let id = existing.randomElement(using: &generator) else { continue }
                var mask = FieldMask()
                let field = Int.random(in: 0..<3, using: &generator)
                mask.insert(field)
                let new = field == 2 ? "code \(id) \(next)" : text()
                try changes.update(store.article, rowID: id, mask: mask) { if let new { $0.setText(field, new) } }
                touched.insert(id)
            default:
                guard let id = existing.randomElement(using: &generator) else { continue }
                changes.delete(try store.article, rowID: id)
                ids.remove(id)
                touched.insert(id)
            }
        }
        return changes
    }
}
