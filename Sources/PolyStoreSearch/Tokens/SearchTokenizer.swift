/// A word of a text, in the form in which it is searched.
public struct SearchToken: Sendable, Hashable {
    /// The folded and stemmed word, in UTF-8.
    public var term: [UInt8]
    /// The bytes of the word in the text, as offsets in UTF-8. For scripts without spaces: of both characters of the pair.
    public var range: Range<Int>
    /// The position of the token in the text, from 0. Every token has the position that follows the one of the token before.
    public var position: Int

    /// Creates a token.
    public init(term: [UInt8], range: Range<Int>, position: Int) {
        self.term = term
        self.range = range
        self.position = position
    }

    /// Returns the range of the word as indexes of the text from which the token is.
    public func range(in text: String) -> Range<String.Index> {
        let start = text.utf8.index(text.utf8.startIndex, offsetBy: range.lowerBound)
        return start..<text.utf8.index(start, offsetBy: range.count)
    }
}

/// Divides texts into tokens. The same on every platform: it uses tables of this module only.
public struct SearchTokenizer: Sendable {
    /// The version of the rules and tables. Two versions can give different tokens, so an index keeps the version that wrote it.
    public static let version = 1
    /// The options.
    public let options: SearchOptions

    /// Creates a tokenizer.
    public init(_ options: SearchOptions = SearchOptions()) { self.options = options }

    /// Calls a closure with each token of a text, in order. Total: any bytes, also invalid UTF-8, give tokens or none.
    /// - Parameters:
    ///   - text: The text in UTF-8.
    ///   - body: Receives the term, which is valid during the call only, the bytes of the text, and the position.
    public func forEachToken(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>, Int) throws -> Void
    ) rethrows {
        try withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TokenScanner.bufferBytes) { buffer in
            guard let term = buffer.baseAddress else { return }
            var scanner = TokenScanner(text, term: term, options)
            var position = 0
            while scanner.next() {
                try body(UnsafeBufferPointer(start: term, count: scanner.termCount), scanner.start..<scanner.end, position)
                position += 1
            }
        }
    }

    /// Returns the tokens of a text.
    public func tokens(in text: String) -> [SearchToken] {
        var tokens: [SearchToken] = []
        var copy = text
        copy.withUTF8 { bytes in
            forEachToken(in: bytes) { term, range, position in
                tokens.append(SearchToken(term: Array(term), range: range, position: position))
            }
        }
        return tokens
    }
}

extension SearchTokenizer {
    /// Calls a closure with a scanner at the start of a text.
    func withScanner<Result>(_ text: UnsafeBufferPointer<UInt8>, _ body: (inout TokenScanner) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TokenScanner.bufferBytes) { buffer in
            // An allocation of more than 0 bytes has an address.
            var scanner = TokenScanner(text, term: buffer.baseAddress!, options)
            return body(&scanner)
        }
    }

    /// Returns the phrase of a typed text; nil if the text has no tokens.
    ///
    /// The last character of a run of a script without spaces is a prefix if it is the only one, because texts have it together with the next one.
    /// After another character it is left out, because the term before it contains it.
    func phrase(_ text: ArraySlice<UInt8>, isPrefix: Bool, limit: Int) -> ResolvedSearch.Phrase? {
        var terms: [[UInt8]] = []
        var kinds: (last: TokenScanner.Kind, before: TokenScanner.Kind) = (.word, .word)
        text.withUnsafeBufferPointer { bytes in
            withScanner(bytes) { scanner in
                while terms.count < limit, scanner.next() {
                    terms.append(Array(UnsafeBufferPointer(start: scanner.term, count: scanner.termCount)))
                    kinds = (scanner.kind, kinds.last)
                }
            }
        }
        if terms.isEmpty { return nil }
        if kinds.last == .single, kinds.before == .pair {
            terms.removeLast()
            return ResolvedSearch.Phrase(terms: terms, isPrefix: isPrefix, fields: .max)
        }
        return ResolvedSearch.Phrase(terms: terms, isPrefix: isPrefix || kinds.last == .single, fields: .max)
    }

    /// Returns the part of a text from the start of its first token to the end of its last one, and whether it is one token; nil without tokens.
    func extent(_ text: ArraySlice<UInt8>) -> (range: Range<Int>, isWord: Bool)? {
        text.withUnsafeBufferPointer { bytes in
            withScanner(bytes) { scanner in
                guard scanner.next() else { return nil }
                let start = scanner.start
                var end = scanner.end
                var isWord = true
                while scanner.next() {
                    isWord = false
                    end = max(end, scanner.end)
                }
                return ((text.startIndex + start)..<(text.startIndex + end), isWord)
            }
        }
    }
}
