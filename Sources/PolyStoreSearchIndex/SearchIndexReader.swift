import PolyStoreSearch

/// What a search read and computed.
public struct SearchCosts: Sendable, Hashable {
    /// The number of terms that were looked up; a prefix counts each term that begins with it.
    public var terms = 0
    /// The number of postings that were decoded.
    public var postings = 0
    /// The number of documents whose score was computed.
    public var scored = 0

    /// Creates costs of zero.
    public init() {}
}

/// The documents that a search found.
public struct SearchHits: Sendable, Hashable {
    /// The ids of the documents: ascending, or best first with ascending ids among equal scores, as requested.
    public var documents: [Int64]
    /// The score of each document; empty if scores were not requested.
    public var scores: [Double]
    /// What the search read and computed.
    public var costs: SearchCosts

    /// Creates the result of a search.
    public init(documents: [Int64] = [], scores: [Double] = [], costs: SearchCosts = SearchCosts()) {
        self.documents = documents
        self.scores = scores
        self.costs = costs
    }
}

/// Searches an index in a transaction.
public final class SearchIndexReader {
    /// Creates a reader. Reads nothing before the first search.
    public init(_ pages: any SearchPageReader, fields: Int) {}

    /// Returns the documents that a search finds, in ascending order of their ids.
    /// - Parameters:
    ///   - search: The search.
    ///   - statistics: The statistics of the search with which scores are computed; nil for no scores.
    ///   - weights: The weight of each field.
    ///   - check: Called now and then during a long search; an error that it throws ends the search.
    public func all(
        _ search: ResolvedSearch, scoredBy statistics: SearchStatistics?, weights: [Double], check: () throws -> Void
    ) throws -> SearchHits { SearchHits() }

    /// Returns the documents with the highest scores, best first; ascending ids among equal scores.
    /// - Parameter limit: The maximum number of documents.
    public func best(
        _ limit: Int, _ search: ResolvedSearch, scoredBy statistics: SearchStatistics, weights: [Double], check: () throws -> Void
    ) throws -> SearchHits { SearchHits() }

    /// Returns the statistics of a search.
    public func statistics(_ search: ResolvedSearch, check: () throws -> Void) throws -> SearchStatistics {
        SearchStatistics(documents: 0, tokens: 0, frequencies: [])
    }
}
