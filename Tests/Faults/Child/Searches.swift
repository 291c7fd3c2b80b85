import EngineTestSupport
import PolyStoreBackend
import PolyStoreSearch

/// Full-text searches of items, whose results follow from the words of the truth.
enum Searches {
    /// The queries: which items a search finds; the best of them and the statistics. They read the records if the index is not complete, and check nothing if the schema
    /// of the store has no full-text indexes.
    static var all: [Query] {
        [
            Query(name: "search") { store, transaction, truth in
                let entity = try store.entity("Item")
                for index in entity.searchIndexes {
                    let documents = documents(index, truth)
                    for pattern in patterns(index, truth) {
                        let condition = try SearchCondition(Search(pattern.text), in: index, of: entity)
                        let right = documents.filter { pattern.matches($0.fields) }.map(\.id)
                        let found = try transaction.ids(FetchRequest(entity, predicate: .search(condition)))
                        try Checker.expect(found == right, "search \(condition): \(found.count) ids instead of \(right.count)")
                    }
                }
            },
            Query(name: "rank") { store, transaction, truth in
                let entity = try store.entity("Item")
                for index in entity.searchIndexes {
                    let condition = try SearchCondition(Search("common"), in: index, of: entity)
                    let (right, statistics) = ranked(condition, documents(index, truth))
                    let key = SortKey(.score(condition), ascending: false)
                    let found = try transaction.ids(FetchRequest(entity, predicate: .search(condition), sortKeys: [key], limit: 10))
                    try Checker.expect(found == right, "rank \(condition): \(found) instead of \(right)")
                    // Nil while the index is incomplete.
                    guard let counted = try transaction.searchStatistics(condition) else { continue }
                    try Checker.expect(counted == statistics, "rank \(condition): \(counted) instead of \(statistics)")
                }
            },
        ]
    }

    /// An item with the words of each field of an index; nil for a field that is null.
    private typealias Document = (id: Int64, fields: [[Substring]?])

    private static func documents(_ index: SearchIndex, _ truth: Truth) -> [Document] {
        truth.ids.map { id in
            (
                id,
                index.fieldNames.map { name in
                    let text = name == "title" ? Truth.title(id) : truth.items[id].flatMap { Truth.text(id, $0) }
                    return text?.split(separator: " ")
                }
            )
        }.filter { $0.fields.contains { $0 != nil } }
    }

    /// A search, and whether the words of an item satisfy it.
    private struct Pattern {
        let text: String
        let matches: ([[Substring]?]) -> Bool

        init(_ text: String, _ matches: @escaping ([[Substring]?]) -> Bool) { (self.text, self.matches) = (text, matches) }

        /// A search for one word.
        init(word: String) { self.init(word) { $0.contains { $0?.contains { $0 == word } == true } } }
    }

    /// Returns searches of common and rare words, of a phrase, and in the index over the titles of a prefix and of titles.
    private static func patterns(_ index: SearchIndex, _ truth: Truth) -> [Pattern] {
        let rare = [truth.ids.first, truth.ids.last].compactMap { $0 }
        let phrase = Pattern("\"quick brown\" -word40") { fields in
            fields.contains { words in words.map { zip($0, $0.dropFirst()).contains { $0 == "quick" && $1 == "brown" } } == true }
                && !fields.contains { $0?.contains("word40") == true }
        }
        var patterns = [Pattern(word: "common"), phrase]
        patterns += rare.map { Pattern(word: "revision\(truth.items[$0]?.revision ?? 0)") }
        guard index.fieldNames.contains("title") else { return patterns }
        patterns.append(Pattern("word4* item") { $0.contains { $0?.contains { $0.hasPrefix("word4") } == true } })
        return patterns + rare.map { id in Pattern("title:\(id)") { $0[0]?.contains { $0 == "\(id)" } == true } }
    }

    /// Returns the ids of the best ten documents of a search of one word, and the statistics of all.
    private static func ranked(_ condition: SearchCondition, _ documents: [Document]) -> (best: [Int64], statistics: SearchStatistics) {
        var statistics = SearchStatistics(of: condition.search)
        var matches: [(id: Int64, match: SearchMatch)] = []
        for (id, fields) in documents {
            let counts = fields.map { $0?.count { $0 == condition.text } ?? 0 }
            let length = fields.reduce(0) { $0 + ($1?.count ?? 0) }
            let isMatch = counts.contains { $0 > 0 }
            statistics.add(([isMatch], length))
            if isMatch { matches.append((id, SearchMatch(occurrences: [counts], length: length))) }
        }
        let rank = SearchRank(statistics, weights: condition.index.weights)
        let scores = matches.map { (id: $0.id, score: $0.match.score(rank, condition.search)) }
        return (scores.sorted { ($1.score, $0.id) < ($0.score, $1.id) }.prefix(10).map(\.id), statistics)
    }
}
