package import PolyStoreBackend
import PolyStoreQuery
package import PolyStoreSearch
package import SeededRandom

/// A model with two texts and a number, and the searches of its objects.
package enum Texts {
    package static let both = SearchIndexDescription(fields: ["title", "body"], weights: [2, 1])
    package static let titles = SearchIndexDescription(name: "titles", fields: ["title"], options: SearchOptions(stemming: .english))

    /// - Parameter names: The names of the two texts.
    package static func schema(_ indexes: [SearchIndexDescription], names: [String] = ["title", "body"]) throws -> ResolvedSchema {
        let texts = names.map { PropertyDescription.attribute(AttributeDescription(name: $0, type: .string, isOptional: true)) }
        let number = AttributeDescription(name: "number", type: .int64, isOptional: true)
        let code = AttributeDescription(name: "code", type: .int64, isOptional: true, isUnique: true)
        return try ResolvedSchema(
            SchemaDescription(
                name: "texts",
                entities: [
                    EntityDescription(name: "Note", properties: texts + [.attribute(number), .attribute(code)], searchIndexes: indexes),
                    EntityDescription(name: "Other", properties: [.attribute(number)]),
                ]))
    }

    private static let words = [
        "lazy", "dog", "quick", "brown", "fox", "jumps", "over", "running", "runs", "été", "straße", "zebra", "x", "alpha", "beta",
    ]

    package static func text(_ random: inout SplitMix64) -> Value {
        if random.once(in: 8) { return .null }
        return .text((0..<random.below(12)).map { _ in random.pick(words) }.joined(separator: random.once(in: 3) ? ", " : " "))
    }

    /// Searches of every form.
    package static let searches = [
        "lazy", "dog fox", "\"quick brown\"", "ru*", "alpha OR beta", "dog -lazy", "title:zebra", "NEAR(fox dog, 3)", "body:(x OR over)",
        "nothing", "",
    ]

    package static func values(_ random: inout SplitMix64, _ id: Int64) -> [String: Value] {
        ["title": text(&random), "body": text(&random), "number": .integer(id), "code": .integer(id)]
    }
}

extension Store {
    /// Returns the differences of searches in the indexes of notes.
    package func searchDifferences(_ searches: [String] = Texts.searches) throws -> [String] {
        try read { try $0.differences(try entity("Note"), searches) }
    }

    package func condition(_ text: String, _ index: Int = 0) throws -> SearchCondition {
        let entity = try entity("Note")
        return try SearchCondition(Search(text), in: entity.searchIndexes[index], of: entity)
    }
}

extension ReadTransaction {
    /// Returns what a search finds by reading all records: the ids in ascending order, the scores and the statistics.
    package func scanned(_ condition: SearchCondition) throws -> (ids: [Int64], scores: [Double], statistics: SearchStatistics) {
        let matcher = SearchMatcher(condition.search, condition.index.options)
        var statistics = SearchStatistics(of: condition.search)
        var matches: [(Int64, SearchMatch)] = []
        let cursor = try fetch(FetchRequest(condition.entity))
        defer { cursor.close() }
        while try cursor.next() {
            guard let texts = condition.index.texts(of: cursor.record) else { continue }
            statistics.add(matcher.frequencies(texts))
            if let match = matcher.match(texts) { matches.append((cursor.rowID, match)) }
        }
        let rank = SearchRank(statistics, weights: condition.index.weights)
        return (matches.map(\.0), matches.map { $0.1.score(rank, condition.search) }, statistics)
    }

    /// Returns a sentence for each difference between the index and the records, in the ids, the scores to the last bit, the best ten and the statistics.
    package func differences(_ condition: SearchCondition) throws -> [String] {
        let expected = try scanned(condition)
        guard let statistics = try searchStatistics(condition) else { return ["no index serves \(condition)"] }
        var found: [String] = []
        for phrase in condition.search.ranked where statistics.frequencies[phrase] != expected.statistics.frequencies[phrase] {
            found.append("\(condition): \(statistics.frequencies) documents with the phrases, not \(expected.statistics.frequencies)")
        }
        if statistics.documents != expected.statistics.documents || statistics.tokens != expected.statistics.tokens {
            found.append("\(condition): \(statistics) instead of \(expected.statistics)")
        }
        let all = try search(SearchRequest(condition, scoredBy: statistics))
        if all?.documents != expected.ids { found.append("\(condition): found \(all?.documents ?? []), not \(expected.ids)") }
        if all?.scores.map(\.bitPattern) != expected.scores.map(\.bitPattern) { found.append("\(condition): other scores") }
        let best = try search(SearchRequest(condition, scoredBy: statistics, limit: 10))
        let sorted = zip(expected.ids, expected.scores).sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(10)
        if best?.documents != sorted.map(\.0) {
            found.append("\(condition): the best are \(best?.documents ?? []), not \(sorted.map(\.0))")
        }
        var request = FetchRequest(condition.entity, predicate: .search(condition))
        let indexed = try ids(request)
        request.ignoresIndexes = true
        if try ids(request) != indexed { found.append("\(condition): the scan finds others") }
        return found
    }

    /// Returns the differences of searches in all full-text indexes of an entity.
    package func differences(_ entity: Entity, _ searches: [String] = Texts.searches) throws -> [String] {
        try entity.searchIndexes.flatMap { index in
            try searches.flatMap { text in
                let search = text.contains(":") && index.fields.count < 2 ? "lazy" : text
                return try differences(try SearchCondition(Search(search), in: index, of: entity))
            }
        }
    }
}
