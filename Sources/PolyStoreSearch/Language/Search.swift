/// A full-text query: words, phrases, prefixes, and their combination.
///
/// ```
/// swift concurrency              both words, in any of the fields
/// swift OR kotlin                one of them
/// swift -objc                    the first and not the second
/// "structured concurrency"       words that follow one another
/// concurr*                       words that begin so
/// NEAR(actor isolation, 5)       at most 5 words between them
/// title:swift title:(a OR "b c") in one field
/// ```
///
/// A written word that the tokenizer divides, such as `e-mail`, is a phrase. One without a letter, digit or emoji is skipped.
/// A query without words, and one that only excludes, finds nothing.
public struct Search: Sendable, Hashable {
    /// The text that was parsed.
    public let text: String
    /// A Boolean value that indicates whether mistakes are errors.
    public let isStrict: Bool

    /// Reads what a user typed. Never fails: an operator in the wrong place is searched as text.
    /// A quotation mark or parenthesis that is not closed reaches to the end, so a search has its meaning while it is typed.
    ///
    /// Reads at most 65,536 bytes, 64 words and phrases with 256 words in all; parentheses that are more than 100 deep are ignored.
    public init(_ text: String) {
        self.text = text
        isStrict = false
    }

    /// Reads a query of the search language.
    /// - Throws: ``SearchSyntaxError`` for a mistake, and for a query above the limits of ``init(_:)``.
    public init(query text: String) throws(SearchSyntaxError) {
        self.text = text
        isStrict = true
        var parser = SearchParser(text)
        let expression = parser.parse()
        if let (message, offset) = parser.mistake { throw SearchSyntaxError(message, query: text, offset: offset) }
        _ = try SearchResolver.resolve(expression, in: text, bytes: parser.bytes, fields: nil, options: SearchOptions(), isStrict: true)
    }

    /// Returns the search for the fields and options of an index.
    ///
    /// A name of a field is compared exactly, and then without regard to the case of ASCII letters. Only the first 64 fields can be named.
    /// - Throws: ``SearchSyntaxError`` if a strict query names a field that the index does not have, that is not one of the first 64, or whose name
    ///   differs from several fields in the case of letters only. The lenient reading takes such a name as text.
    public func resolved(fields: [String], options: SearchOptions) throws(SearchSyntaxError) -> ResolvedSearch {
        var parser = SearchParser(text)
        let expression = parser.parse()
        return try SearchResolver.resolve(expression, in: text, bytes: parser.bytes, fields: fields, options: options, isStrict: isStrict)
    }
}

extension Search: CustomStringConvertible {
    /// The query in a uniform spelling, which has the same meaning.
    public var description: String {
        var parser = SearchParser(text)
        guard let expression = parser.parse() else { return "" }
        return SearchWriter(bytes: parser.bytes).text(expression)
    }
}
