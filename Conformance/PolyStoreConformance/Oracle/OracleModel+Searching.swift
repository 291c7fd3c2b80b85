import PolyStoreBackend
import PolyStoreSearch

extension OracleModel {
    /// Returns the texts of an object for a full-text index; nil if it is no document of the index.
    private func texts(_ index: SearchIndex, _ row: [Value]) -> [String?]? {
        let texts = index.fields.map { field in if case .text(let text) = row[field] { text } else { nil as String? } }
        return texts.contains { $0 != nil } ? texts : nil
    }

    /// Returns whether an object satisfies a full-text search.
    func matches(_ condition: SearchCondition, _ id: Int64) -> Bool {
        guard let texts = rows[condition.entity.index][id].flatMap({ texts(condition.index, $0) }) else { return false }
        return SearchMatcher(condition.search, condition.index.options).match(texts) != nil
    }

    /// Returns the score of an object in a full-text search.
    func score(_ condition: SearchCondition, _ id: Int64) -> Double {
        let matcher = SearchMatcher(condition.search, condition.index.options)
        guard let match = rows[condition.entity.index][id].flatMap({ texts(condition.index, $0) }).flatMap({ matcher.match($0) }) else { return 0 }
        var statistics = SearchStatistics(documents: 0, tokens: 0, frequencies: condition.search.phrases.map { _ in 0 })
        for row in rows[condition.entity.index].values {
            guard let texts = texts(condition.index, row) else { continue }
            let (contains, length) = matcher.frequencies(texts)
            statistics.documents += 1
            statistics.tokens += length
            for (phrase, found) in contains.enumerated() where found { statistics.frequencies[phrase] += 1 }
        }
        return match.score(SearchRank(statistics, weights: condition.index.weights), condition.search)
    }
}
