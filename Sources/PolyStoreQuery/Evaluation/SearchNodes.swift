import PolyStoreBackend
import PolyStoreSearch

/// A full-text search in the texts of a record.
final class SearchNode: EvaluationNode {
    private let index: SearchIndex
    private let matcher: SearchMatcher

    init(_ condition: SearchCondition) {
        index = condition.index
        matcher = SearchMatcher(condition.search, condition.index.options)
    }

    override func evaluate(_ id: Int64, _ record: RecordView) -> Ternary {
        Ternary(index.texts(of: record).map(matcher.matches) ?? false)
    }
}

/// The score of a record in a full-text search.
final class ScoreNode: ExpressionNode {
    private let condition: SearchCondition
    private let matcher: SearchMatcher
    private let lookup: RelatedLookup
    private var rank: SearchRank?

    init(_ condition: SearchCondition, _ lookup: RelatedLookup) {
        self.condition = condition
        matcher = SearchMatcher(condition.search, condition.index.options)
        self.lookup = lookup
        rank = condition.statistics.map { SearchRank($0, weights: condition.index.weights) }
    }

    override func value(_ id: Int64, _ record: RecordView) throws -> Value {
        if let scores = condition.scores { return .real(scores[id]) }
        guard let match = condition.index.texts(of: record).flatMap({ matcher.match($0) }) else { return .real(0) }
        return .real(match.score(try ranked(), condition.search))
    }

    /// Returns the rank, with the statistics of the transaction if the request has none.
    private func ranked() throws -> SearchRank {
        if let rank { return rank }
        let statistics = try lookup.statistics(of: condition)
        let rank = SearchRank(statistics, weights: condition.index.weights)
        self.rank = rank
        return rank
    }
}
