/// What is searched for: words, phrases, prefixes, and how they are combined.
public struct Search: Sendable, Hashable {
    /// The text that was parsed.
    public let text: String
    /// A Boolean value that indicates whether mistakes are errors.
    public let isStrict: Bool

    /// Reads what somebody typed. Never fails: what is no operator in its place is searched as text.
    public init(_ text: String) {
        self.text = text
        isStrict = false
    }

    /// Reads a query of the search language.
    /// - Throws: ``SearchSyntaxError`` for a mistake.
    public init(query text: String) throws(SearchSyntaxError) {
        self.text = text
        isStrict = true
    }

    /// Returns the search for the fields and options of an index.
    /// - Throws: ``SearchSyntaxError`` if a strict query names a field that the index does not have.
    public func resolved(fields: [String], options: SearchOptions) throws(SearchSyntaxError) -> ResolvedSearch {
        let phrases = SearchTokenizer(options).tokens(in: text).map { ResolvedSearch.Phrase(terms: [$0.term], isPrefix: false, fields: .max) }
        return ResolvedSearch(phrases: phrases, root: phrases.isEmpty ? .nothing : .and(phrases.indices.map { .phrase($0) }))
    }
}

/// A mistake in a query of the search language.
public struct SearchSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, and the way out.
    public let message: String
    /// The query.
    public let query: String
    /// The place of the mistake, as an offset in the UTF-8 of the query.
    public let offset: Int

    /// Creates an error.
    public init(_ message: String, query: String, offset: Int) {
        self.message = message
        self.query = query
        self.offset = offset
    }

    /// The message.
    public var description: String { message }
}
