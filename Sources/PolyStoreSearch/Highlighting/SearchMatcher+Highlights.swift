extension SearchMatcher {
    /// Returns the parts of a text that the search found: the words of phrases that count for the score, ascending and without overlaps.
    ///
    /// A phrase is one range, with what is between its words. A prefix gives the whole word. In `NEAR` only the occurrences near the others count.
    /// - Parameters:
    ///   - text: The text of a field.
    ///   - field: The index of the field.
    public func highlights(in text: String, field: Int) -> [Range<String.Index>] {
        Self.indexes(highlightedBytes(in: text, field: field), in: text)
    }

    /// Returns ``highlights(in:field:)`` as offsets in the UTF-8 of the text.
    public func highlightedBytes(in text: String, field: Int) -> [Range<Int>] {
        let found = spans(in: text, field: field)
        return merged(found.spans.map { found.bytes($0, self) })
    }

    /// Returns a text with marks around what the search found.
    ///
    /// By default the text is not escaped. If the result is shown as HTML, use ``SearchMarkup/html``, or the text is read as HTML too.
    /// - Parameters:
    ///   - text: The text of a field.
    ///   - field: The index of the field.
    ///   - prefix: Written before each highlight.
    ///   - suffix: Written after each highlight.
    ///   - markup: How the text itself is written.
    public func highlighted(
        _ text: String, field: Int = 0, prefix: String = "<b>", suffix: String = "</b>", markup: SearchMarkup = .plain
    ) -> String {
        markup.write(text.utf8, marking: highlightedBytes(in: text, field: field), prefix: prefix, suffix: suffix)
    }
}

extension SearchMatcher {
    /// An occurrence of a phrase.
    struct Span {
        var phrase: Int
        /// The positions of its tokens.
        var positions: Range<Int>
    }

    /// The tokens of a text, and the occurrences in it in the order of their positions.
    struct Spans {
        struct Token {
            var start: Int
            var end: Int
            /// The end of the first character of a pair, otherwise of the token.
            var firstEnd: Int
        }

        var tokens: [Token] = []
        var spans: [Span] = []

        /// Returns the bytes of an occurrence.
        func bytes(_ span: Span, _ matcher: SearchMatcher) -> Range<Int> {
            let last = tokens[span.positions.upperBound - 1]
            let end = matcher.isSingleCharacter(span.phrase) ? last.firstEnd : last.end
            return tokens[span.positions.lowerBound].start..<end
        }
    }

    /// Returns whether the last term of a phrase is one character of a script without spaces, for which a text has pairs.
    private func isSingleCharacter(_ phrase: Int) -> Bool {
        guard search.phrases[phrase].isPrefix, let term = search.phrases[phrase].terms.last else { return false }
        return term.withUnsafeBufferPointer { bytes in tokenizer.withScanner(bytes) { $0.next() && $0.kind == .single } }
    }

    /// Finds the occurrences of the phrases that count for the score in a text.
    func spans(in text: String, field: Int) -> Spans {
        var found = Spans()
        let occurrences = occurrences(in: text, field: field)
        guard occurrences.phrases.contains(where: { !$0.isEmpty }) else { return found }
        for (phrase, positions) in counted(occurrences).enumerated() {
            let length = search.phrases[phrase].terms.count
            found.spans += positions.map { Span(phrase: phrase, positions: $0..<($0 + length)) }
        }
        if found.spans.isEmpty { return found }
        found.spans.sort { ($0.positions.lowerBound, $0.phrase) < ($1.positions.lowerBound, $1.phrase) }
        found.tokens.reserveCapacity(occurrences.length)
        var text = text
        text.withUTF8 { bytes in
            tokenizer.withScanner(bytes) { scanner in
                while scanner.next() {
                    let firstEnd = scanner.kind == .pair ? scanner.firstEnd : scanner.end
                    found.tokens.append(Spans.Token(start: scanner.start, end: scanner.end, firstEnd: firstEnd))
                }
            }
        }
        return found
    }

    /// Returns the positions of the phrases that count for the score.
    private func counted(_ occurrences: FieldOccurrences) -> [[Int]] {
        var counted = occurrences.phrases.indices.map { isRanked[$0] ? occurrences.phrases[$0] : [] }
        for near in condition.nears {
            let trimmed = self.near(near, occurrences)
            for (place, phrase) in near.phrases.enumerated() where isRanked[phrase] { counted[phrase] = trimmed?[place] ?? [] }
        }
        return counted
    }

    /// Returns ranges in ascending order, with those joined that overlap or touch.
    func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Returns ranges of offsets as indexes of a text.
    static func indexes(_ ranges: [Range<Int>], in text: String) -> [Range<String.Index>] {
        var index = text.utf8.startIndex
        var offset = 0
        func advance(to next: Int) -> String.Index {
            index = text.utf8.index(index, offsetBy: next - offset)
            offset = next
            return index
        }
        return ranges.map { advance(to: $0.lowerBound)..<advance(to: $0.upperBound) }
    }
}
