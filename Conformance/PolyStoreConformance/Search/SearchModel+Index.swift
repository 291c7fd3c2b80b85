import PolyStoreBackend
import PolyStoreSearch

extension SearchModel {
    /// A difference between what an index returns and what the model expects.
    struct Mismatch {
        let what: String
        let expected: String
        let found: String
    }

    /// Compares what the index of a backend returns with the texts: statistics, documents, the bits of scores, and the best documents.
    /// - Returns: nil if all are equal, and for a backend without an index.
    func mismatch(_ condition: SearchCondition, _ reader: any ReadTransaction) throws -> Mismatch? {
        func difference<T: Equatable>(_ what: String, _ found: T, _ expected: T) -> Mismatch? {
            found == expected ? nil : Mismatch(what: what, expected: "\(expected)", found: "\(found)")
        }
        guard let statistics = try reader.searchStatistics(condition) else { return nil }
        let wanted = self.statistics(condition.text)
        if let found = difference("the number of documents of the index", statistics.documents, wanted.documents) { return found }
        if let found = difference("the number of words of the index", statistics.tokens, wanted.tokens) { return found }
        let frequencies = condition.search.ranked.map { $0 < statistics.frequencies.count ? statistics.frequencies[$0] : -1 }
        if let found = difference("the frequencies in the index", frequencies, wanted.frequencies) { return found }
        let scores = found(condition.text)
        let ids = scores.keys.sorted()
        guard let hits = try reader.search(SearchRequest(condition, scoredBy: statistics)) else { return nil }
        if let found = difference("the documents of the index", hits.documents, ids) { return found }
        if let found = difference("the scores of the index", hits.scores.map(\.bitPattern), ids.map { (scores[$0] ?? 0).bitPattern }) {
            return found
        }
        if let plain = try reader.search(SearchRequest(condition)),
            let found = difference("the documents without scores", plain.documents, ids)
        {
            return found
        }
        let ranked = ranked(condition.text)
        for limit in Set([0, 1, 2, 5, ids.count - 1, ids.count, ids.count + 1]) where limit >= 0 {
            guard let best = try reader.search(SearchRequest(condition, scoredBy: statistics, limit: limit)) else { continue }
            let expected = Array(ranked.prefix(limit))
            if let found = difference("the best \(limit) documents of the index", best.documents, expected) { return found }
            if let found = difference(
                "the scores of the best \(limit) documents", best.scores.map(\.bitPattern), expected.map { (scores[$0] ?? 0).bitPattern })
            {
                return found
            }
        }
        return nil
    }
}
