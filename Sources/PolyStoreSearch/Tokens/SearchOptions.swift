/// How texts are divided into tokens for a search. Two indexes with different options give different tokens.
public struct SearchOptions: Sendable, Hashable, Codable {
    /// The reduction of words to their stems.
    public enum Stemming: String, Sendable, Hashable, Codable {
        /// Words are searched as they are written, after folding.
        case none
        /// English words by the Porter 2 algorithm (https://snowballstem.org/algorithms/english/stemmer.html).
        case english
    }

    /// The reduction of words to their stems.
    public var stemming: Stemming

    /// Creates options.
    public init(stemming: Stemming = .none) { self.stemming = stemming }
}
