import PolyStoreSearch

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
