/// The occurrences of a search in one document.
public struct SearchMatch: Sendable, Hashable {
    /// The number of occurrences of each phrase in each field: `occurrences[phrase][field]`. 0 for phrases that do not count for the score.
    public var occurrences: [[Int]]
    /// The number of tokens of the document in all fields.
    public var length: Int

    /// Creates a match.
    public init(occurrences: [[Int]], length: Int) {
        self.occurrences = occurrences
        self.length = length
    }

    /// Returns the score of the document: the sum over the phrases that count, in their order.
    public func score(_ rank: SearchRank, _ search: ResolvedSearch) -> Double {
        var sum = 0.0
        for phrase in search.ranked {
            let frequency = rank.frequency { occurrences[phrase][$0] }
            if frequency > 0 { sum += rank.part(phrase, frequency: frequency, length: length) }
        }
        return sum
    }
}

/// Finds a search in documents without an index. What it finds is the meaning of a search; an index gives the same, faster.
public struct SearchMatcher: Sendable {
    /// The search.
    public let search: ResolvedSearch
    /// The tokenizer.
    public let tokenizer: SearchTokenizer

    /// Creates a matcher.
    public init(_ search: ResolvedSearch, _ options: SearchOptions) {
        self.search = search
        tokenizer = SearchTokenizer(options)
    }

    /// Returns the occurrences of the search in a document; nil if the document does not match.
    /// - Parameter fields: The texts of the document, one for each field of the index; nil for null.
    public func match(_ fields: [String?]) -> SearchMatch? { nil }

    /// Returns which phrases occur in a document in their fields, for ``SearchStatistics/frequencies``, and the number of its tokens.
    public func frequencies(_ fields: [String?]) -> (contains: [Bool], length: Int) { ([], 0) }
}
