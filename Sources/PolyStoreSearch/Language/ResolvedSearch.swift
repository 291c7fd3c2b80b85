/// A search in the form in which indexes and matchers execute it: phrases of terms, and their combination.
public struct ResolvedSearch: Sendable, Hashable {
    /// Terms that follow one another.
    public struct Phrase: Sendable, Hashable {
        /// The terms in UTF-8, as the tokenizer gives them; at least one.
        public var terms: [[UInt8]]
        /// A Boolean value that indicates whether the last term is a prefix, which every term that begins with it matches.
        public var isPrefix: Bool
        /// The fields in which the phrase is searched, as a set of bits: bit 0 is the first field of the index.
        public var fields: UInt64

        /// Creates a phrase.
        public init(terms: [[UInt8]], isPrefix: Bool, fields: UInt64) {
            self.terms = terms
            self.isPrefix = isPrefix
            self.fields = fields
        }
    }

    /// A condition on a document.
    public indirect enum Node: Sendable, Hashable {
        /// No document.
        case nothing
        /// The documents with a phrase, by its index in ``ResolvedSearch/phrases``.
        case phrase(Int)
        /// The documents that have all phrases in one field, with at most a number of tokens between the end of the first and the start of the last (as FTS5's NEAR).
        case near([Int], distance: Int)
        /// The documents that satisfy all conditions.
        case and([Node])
        /// The documents that satisfy one condition or more.
        case or([Node])
        /// The documents that satisfy the first condition and not the second.
        case excluding(Node, Node)
    }

    /// The phrases, in the order in which the query names them.
    public var phrases: [Phrase]
    /// The condition.
    public var root: Node

    /// Creates a search.
    public init(phrases: [Phrase], root: Node) {
        self.phrases = phrases
        self.root = root
    }

    /// The indexes of the phrases that count for the score: those that are in no excluded condition, ascending.
    public var ranked: [Int] {
        func ranked(_ node: Node) -> [Int] {
            switch node {
            case .nothing: []
            case .phrase(let phrase): [phrase]
            case .near(let phrases, _): phrases
            case .and(let parts), .or(let parts): parts.flatMap(ranked)
            case .excluding(let part, _): ranked(part)
            }
        }
        return ranked(root).sorted()
    }
}
