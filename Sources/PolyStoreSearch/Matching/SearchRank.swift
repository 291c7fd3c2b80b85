/// The counts of an index that the rank of a search depends on, besides the document.
public struct SearchStatistics: Sendable, Hashable {
    /// The number of documents in the index.
    public var documents: Int
    /// The number of tokens of all documents.
    public var tokens: Int
    /// The number of documents that contain each phrase, in the order of ``ResolvedSearch/phrases``, in the fields of the phrase. 0 for those that do not count for the score.
    public var frequencies: [Int]

    /// Creates statistics.
    public init(documents: Int, tokens: Int, frequencies: [Int]) {
        self.documents = documents
        self.tokens = tokens
        self.frequencies = frequencies
    }

    /// Creates the statistics of a search in an index without documents.
    package init(of search: ResolvedSearch) {
        self.init(documents: 0, tokens: 0, frequencies: search.phrases.map { _ in 0 })
    }

    /// Counts a document.
    /// - Parameter document: What ``SearchMatcher/frequencies(_:)`` finds in its texts.
    package mutating func add(_ document: (contains: [Bool], length: Int)) {
        documents += 1
        tokens += document.length
        for (phrase, found) in document.contains.enumerated() where found { frequencies[phrase] += 1 }
    }
}

/// The rank of a document: BM25 with k1 = 1.2 and b = 0.75, as SQLite's FTS5 computes it (https://sqlite.org/fts5.html#the_bm25_function), but greater is better.
///
/// Every backend uses this one function and its order of operations, so scores are equal to the last bit.
public struct SearchRank: Sendable {
    private let phrases: [PhraseRank]
    /// The weight of each field.
    public let weights: [Double]

    /// Creates the rank of a search.
    public init(_ statistics: SearchStatistics, weights: [Double]) {
        let count = Double(statistics.documents)
        let meanLength = statistics.documents > 0 && statistics.tokens > 0 ? Double(statistics.tokens) / count : 1
        phrases = statistics.frequencies.map { frequency in
            let hits = Double(frequency)
            let value = NaturalLogarithm.of((count - hits + 0.5) / (hits + 0.5))
            return PhraseRank(inverse: value > 0 ? value : 1e-6, meanLength: meanLength)
        }
        self.weights = weights
    }

    /// Returns the weighted frequency of a phrase in a document, from its number of occurrences in each field.
    public func frequency(_ occurrences: (Int) -> Int) -> Double {
        var sum = 0.0
        for field in weights.indices { sum += weights[field] * Double(occurrences(field)) }
        return sum
    }

    /// Returns what a phrase adds to the score of a document.
    /// - Parameters:
    ///   - phrase: The index of the phrase. A phrase without statistics adds 0.
    ///   - frequency: The weighted frequency of the phrase in the document.
    ///   - length: The number of tokens of the document in all fields.
    public func part(_ phrase: Int, frequency: Double, length: Int) -> Double {
        self.phrase(phrase).part(frequency: frequency, length: Double(length))
    }

    /// The rank of a phrase; one that adds 0 if it has no statistics.
    package func phrase(_ index: Int) -> PhraseRank {
        phrases.indices.contains(index) ? phrases[index] : PhraseRank(inverse: 0, meanLength: 1)
    }
}

/// The contribution of a phrase to the scores of documents.
package struct PhraseRank: Sendable {
    private static let k1 = 1.2
    private static let b = 0.75
    /// The inverse document frequency.
    private let inverse: Double
    private let meanLength: Double

    fileprivate init(inverse: Double, meanLength: Double) {
        self.inverse = inverse
        self.meanLength = meanLength
    }

    /// A length. The contribution of the phrase depends only on the frequency divided by the sum of this and the length of the document, and grows with this quotient.
    package var lengthOffset: Double { meanLength * (1 - Self.b) / Self.b }

    /// Returns the contribution of the phrase to the score of a document.
    /// - Parameters:
    ///   - frequency: The weighted frequency in the document.
    ///   - length: The number of tokens of the document in all fields.
    package func part(frequency: Double, length: Double) -> Double {
        inverse * ((frequency * (Self.k1 + 1)) / (frequency + Self.k1 * (1 - Self.b + Self.b * length / meanLength)))
    }
}
