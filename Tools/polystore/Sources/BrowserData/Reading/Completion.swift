/// A word that can continue a condition at a position.
package struct Completion: Sendable, Hashable {
    /// The kind of a word.
    package enum Kind: String, Sendable, Hashable { case attribute, relationship, operation, value, keyword }

    /// The inserted text, with the quotes that a name needs.
    package let text: String
    /// The description beside it: the type of an attribute, the entity of a relationship.
    package let detail: String
    package let kind: Kind

    package init(_ text: String, detail: String = "", kind: Kind) { (self.text, self.detail, self.kind) = (text, detail, kind) }
}

/// The words that can continue a condition.
package struct Completions: Sendable, Hashable {
    /// The characters of the condition that a word replaces.
    package let replaced: Range<Int>
    package let words: [Completion]

    package init(replaced: Range<Int>, words: [Completion]) { (self.replaced, self.words) = (replaced, words) }
}
