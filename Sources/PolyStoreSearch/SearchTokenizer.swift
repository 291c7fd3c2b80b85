/// A word of a text, in the form in which it is searched.
public struct SearchToken: Sendable, Hashable {
    /// The folded and stemmed word, in UTF-8.
    public var term: [UInt8]
    /// The bytes of the text that the token stands for, as offsets in UTF-8.
    public var range: Range<Int>
    /// The position of the token in the text, from 0. Every token has the position that follows the one of the token before.
    public var position: Int

    /// Creates a token.
    public init(term: [UInt8], range: Range<Int>, position: Int) {
        self.term = term
        self.range = range
        self.position = position
    }
}

/// Divides texts into tokens. The same on every platform: it uses tables of this module only.
public struct SearchTokenizer: Sendable {
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
        var position = 0
        var start = 0
        while start < text.count {
            guard Self.isWord(text[start]) else {
                start += 1
                continue
            }
            var end = start
            var term: [UInt8] = []
            while end < text.count, Self.isWord(text[end]) {
                term.append((65...90).contains(text[end]) ? text[end] + 32 : text[end])
                end += 1
            }
            try term.withUnsafeBufferPointer { try body($0, start..<end, position) }
            position += 1
            start = end
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 128 || (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
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
