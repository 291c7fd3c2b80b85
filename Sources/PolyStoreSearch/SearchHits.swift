/// The costs of a search.
public struct SearchCosts: Sendable, Hashable, Codable {
    /// The number of terms that were looked up; a prefix counts each term that begins with it.
    public var terms = 0
    /// The number of postings that were decoded.
    public var postings = 0
    /// The number of documents whose score was computed.
    public var scored = 0

    /// Creates costs of zero.
    public init() {}

    /// Adds the costs of another search.
    public static func += (left: inout SearchCosts, right: SearchCosts) {
        left.terms += right.terms
        left.postings += right.postings
        left.scored += right.scored
    }
}

/// The documents that a search found.
public struct SearchHits: Sendable, Hashable {
    /// The ids of the documents: ascending, or best first with ascending ids among equal scores, as requested.
    public var documents: [Int64]
    /// The score of each document; empty if scores were not requested.
    public var scores: [Double]
    /// The costs of the search.
    public var costs: SearchCosts

    /// Creates the result of a search.
    public init(documents: [Int64] = [], scores: [Double] = [], costs: SearchCosts = SearchCosts()) {
        self.documents = documents
        self.scores = scores
        self.costs = costs
    }
}
