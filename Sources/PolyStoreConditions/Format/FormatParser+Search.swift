import PolyStoreBackend

// Full-text searches. `SEARCH` is not a reserved word, so that a property can have this name: it is one before a text, and after a value, where no name can be.

extension FormatParser {
    /// A Boolean value that indicates whether the token is the word `SEARCH`, in upper or lower case.
    var isSearchWord: Bool {
        token.kind == .word && token.range.count == 6 && lexer.text(of: token.range).uppercased() == "SEARCH"
    }

    /// A Boolean value that indicates whether the token begins a search without a left side: `SEARCH "…"`, `SEARCH[name] %@`.
    var beginsSearch: Bool { isSearchWord && lexer.textFollows }

    /// The comparison operator that the token is.
    var comparisonOfToken: Comparison.Operator? { isSearchWord ? .search(index: "") : token.kind.comparison }

    /// Parses a search in the texts of the fetched object.
    func search(_ word: FormatToken) throws {
        try push(.operand(.path(PropertyPath([], location: FormatLocation(lexer.source, word.range)))), depth: 0, word.range)
        try comparison(.direct, start: word.range.lowerBound)
    }

    /// Parses the name of the index after `SEARCH`: `[name]`, `["a name"]`.
    /// - Returns: the name; empty if there is none.
    func searchIndex() throws -> String {
        guard token.kind == .leftBracket else { return "" }
        let opening = token.range
        try advance()
        guard token.kind == .text || token.kind == .escapedWord || isWord(token) else {
            throw error("Expected the name of a full-text index after \"[\", found \(describe(token)).", at: token.range)
        }
        let name =
            switch token.kind {
            case .text: try lexer.unescaped(token.range)
            case .escapedWord: lexer.text(of: token.range.lowerBound + 1..<token.range.upperBound)
            default: lexer.text(of: token.range)
            }
        try advance()
        guard token.kind == .rightBracket else { throw expectedClosing(.rightBracket, opening) }
        try advance()
        return name
    }

    /// Parses `SCORE("…")`, the score of the fetched object, and `SCORE(author SEARCH[name] "…")`.
    func score(_ name: Range<Int>) throws {
        try advance()
        let opening = token.range
        try open()
        let start = token.range.lowerBound
        try expression(.comparison)
        try close(.rightParenthesis, opening)
        let term = terms.removeLast()
        let search = try scored(term, FormatLocation(lexer.source, start..<term.range.upperBound))
        try push(.operand(search.score), depth: term.depth + 1, name.lowerBound..<previous.range.upperBound)
    }

    private func scored(_ term: Term, _ location: FormatLocation) throws -> Comparison {
        switch term.content {
        case .condition(.comparison(let comparison)):
            if case .search = comparison.operation, comparison.modifier == .direct { return comparison }
        case .operand(let operand):
            switch operand {
            case .constant(.text, _), .constant(.null, _), .query:
                return Comparison(.path(PropertyPath([])), .search(index: ""), operand, location: location)
            default: break
            }
        case .condition: break
        }
        throw error("SCORE takes a text or a search: SCORE(\"lazy dog\"), SCORE(SEARCH[name] \"lazy dog\").", at: location.range)
    }
}

extension FormatLexer {
    /// A Boolean value that indicates whether a text, an argument or a variable follows, perhaps after a name in brackets.
    fileprivate var textFollows: Bool {
        var at = offset(from: position)
        if byte(at) == UInt8(ascii: "[") {
            guard let closing = closingBracket(from: at) else { return false }
            at = offset(from: closing + 1)
        }
        return [UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "%"), UInt8(ascii: "$")].contains(byte(at))
    }

    /// Returns the offset of the first byte that is not white space.
    private func offset(from start: Int) -> Int {
        var at = start
        while byte(at) == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains(byte(at)) { at += 1 }
        return at
    }

    /// Returns the offset of the bracket that closes one; nil if there is none. A name in quotes can contain brackets.
    private func closingBracket(from opening: Int) -> Int? {
        var quote: UInt8?
        var at = opening + 1
        while at < bytes.count {
            switch (bytes[at], quote) {
            case (UInt8(ascii: "]"), nil): return at
            case (UInt8(ascii: "\\"), .some): at += 1
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil): quote = bytes[at]
            case (let byte, let open?) where byte == open: quote = nil
            default: break
            }
            at += 1
        }
        return nil
    }
}
