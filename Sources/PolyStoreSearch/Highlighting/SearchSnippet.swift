/// A part of a document around what a search found.
public struct SearchSnippet: Sendable, Hashable {
    /// The index of the field.
    public let field: Int
    /// The part of its text, with ellipses where it was cut. White space at the start and end of the field is left out without one.
    public let text: String
    /// The bytes of the field that the part has, as offsets in UTF-8.
    public let range: Range<Int>
    /// The matches of the search, as offsets in the UTF-8 of ``text``; ascending and without overlaps.
    public let highlightedBytes: [Range<Int>]

    /// The matches of the search, as ranges of ``text``.
    public var highlights: [Range<String.Index>] { SearchMatcher.indexes(highlightedBytes, in: text) }

    /// Returns the text with marks around what the search found.
    ///
    /// By default the text is not escaped. If the result is shown as HTML, use ``SearchMarkup/html``, or the text of the document is read as HTML too.
    public func highlighted(prefix: String = "<b>", suffix: String = "</b>", markup: SearchMarkup = .plain) -> String {
        markup.write(text.utf8, marking: highlightedBytes, prefix: prefix, suffix: suffix)
    }
}

extension SearchMatcher {
    /// The maximum number of tokens of a snippet.
    private static let maximumSnippetTokens = 256

    /// Returns the part of a document with the most different phrases; nil if no phrase that counts for the score occurs in it.
    ///
    /// Of parts with the same number of different phrases, one that begins with a sentence is preferred, then one with more occurrences, then the first one.
    /// - Parameters:
    ///   - fields: The texts of the document, one for each field of the index; nil for null, and for fields that the snippet may not come from.
    ///   - tokens: The maximum number of tokens of the part, from 1 to 256.
    ///   - ellipsis: Written where the text was cut.
    public func snippet(of fields: [String?], tokens: Int = 16, ellipsis: String = "…") -> SearchSnippet? {
        var best: (field: Int, text: String, found: Spans, window: SnippetWindow)?
        for (field, text) in fields.enumerated() {
            guard let text else { continue }
            let found = spans(in: text, field: field)
            guard
                let window = SnippetWindow.best(
                    in: found, of: text, phrases: search.phrases.count,
                    size: min(max(tokens, 1), Self.maximumSnippetTokens, found.tokens.count))
            else {
                continue
            }
            if let best, best.window.score >= window.score { continue }
            best = (field, text, found, window)
        }
        return best.map { snippet($0.window.positions, $0.found, of: $0.text, field: $0.field, ellipsis) }
    }

    private func snippet(_ window: Range<Int>, _ found: Spans, of text: String, field: Int, _ ellipsis: String) -> SearchSnippet {
        let spans = found.spans.filter { window.contains($0.positions.lowerBound) && $0.positions.upperBound <= window.upperBound }
        let highlights = merged(spans.map { found.bytes($0, self) })
        // The last token may be a pair whose second character is outside of the window.
        let end = max(found.tokens[window.upperBound - 1].firstEnd, highlights.last?.upperBound ?? 0)
        var text = text
        return text.withUTF8 { bytes in
            let part = SnippetPart(
                of: bytes, tokens: found.tokens[window.lowerBound].start..<end, isFirst: window.lowerBound == 0,
                isLast: end >= (found.tokens.last?.end ?? 0))
            let before = part.isCutBefore ? ellipsis : ""
            let shift = before.utf8.count - part.range.lowerBound
            return SearchSnippet(
                field: field, text: before + String(decoding: bytes[part.range], as: UTF8.self) + (part.isCutAfter ? ellipsis : ""),
                range: part.range, highlightedBytes: highlights.map { ($0.lowerBound + shift)..<($0.upperBound + shift) })
        }
    }
}

/// The bytes of a snippet: its tokens, and the signs at the start or end of the text if they are few. White space there is left out.
private struct SnippetPart {
    /// The maximum number of bytes of the signs before the first or after the last token.
    private static let maximumSigns = 32

    private(set) var range: Range<Int>
    private(set) var isCutBefore = true
    private(set) var isCutAfter = true

    init(of bytes: UnsafeBufferPointer<UInt8>, tokens: Range<Int>, isFirst: Bool, isLast: Bool) {
        range = tokens
        if isFirst {
            let signs = Self.trimmed(bytes, 0..<tokens.lowerBound)
            isCutBefore = signs.count > Self.maximumSigns
            if !isCutBefore, !signs.isEmpty { range = signs.lowerBound..<range.upperBound }
        }
        if isLast {
            let signs = Self.trimmed(bytes, tokens.upperBound..<bytes.count)
            isCutAfter = signs.count > Self.maximumSigns
            if !isCutAfter, !signs.isEmpty { range = range.lowerBound..<signs.upperBound }
        }
    }

    /// Returns a range without the white space at its ends.
    private static func trimmed(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Range<Int> {
        var offset = range.lowerBound
        var first: Int?
        var end = offset
        while offset < range.upperBound {
            let space = UTF8Scalar.spaceLength(bytes, at: offset)
            if space == 0 {
                if first == nil { first = offset }
                end = offset + 1
            }
            offset += max(space, 1)
        }
        return (first ?? end)..<end
    }
}

/// Consecutive tokens of a text that may be a snippet.
private struct SnippetWindow {
    var positions: Range<Int>
    var score: Int

    /// The number of occurrences at which windows are tried. Texts with more have good ones among the first.
    private static let maximumCandidates = 10_000
    private static let differentPhrase = 1_000_000
    private static let sentenceStart = 10_000

    static func best(in found: SearchMatcher.Spans, of text: String, phrases: Int, size: Int) -> SnippetWindow? {
        guard !found.spans.isEmpty else { return nil }
        let sentences = sentenceStarts(of: text, found.tokens)
        var best: SnippetWindow?
        var seen = [Int](repeating: -1, count: phrases)
        var candidate = 0
        func consider(_ start: Int, firstSpan: Int, bonus: Int, isCentered: Bool) {
            candidate += 1
            let end = start + size
            var score = bonus
            var last = start
            for span in found.spans[firstSpan...] {
                if span.positions.lowerBound >= end { break }
                if span.positions.upperBound > end || span.positions.lowerBound < start { continue }
                score += seen[span.phrase] == candidate ? 1 : differentPhrase
                seen[span.phrase] = candidate
                last = max(last, span.positions.upperBound)
            }
            if let best, best.score >= score { return }
            // An occurrence that is longer than the window is cut.
            let free = isCentered ? max(size - (last - start), 0) / 2 : 0
            let first = max(min(start - free, found.tokens.count - size), 0)
            best = SnippetWindow(positions: first..<min(first + size, found.tokens.count), score: score)
        }
        var sentence = -1
        for (index, span) in found.spans.prefix(maximumCandidates).enumerated() {
            let position = span.positions.lowerBound
            let previous = sentence
            while sentence + 1 < sentences.count, sentences[sentence + 1] <= position { sentence += 1 }
            // The first occurrence in a sentence is enough, because the part from the start of the sentence has the others too.
            if sentence != previous, position - sentences[sentence] < size {
                consider(sentences[sentence], firstSpan: index, bonus: sentenceStart, isCentered: false)
            }
            consider(position, firstSpan: index, bonus: 0, isCentered: true)
        }
        return best
    }

    /// Returns the positions of the tokens that begin a sentence, ascending, the first one included.
    private static func sentenceStarts(of text: String, _ tokens: [SearchMatcher.Spans.Token]) -> [Int] {
        var starts = [0]
        var text = text
        text.withUTF8 { bytes in
            for position in tokens.indices.dropFirst() {
                let gap = min(tokens[position - 1].firstEnd, tokens[position].start)..<tokens[position].start
                if endsSentence(bytes, gap) { starts.append(position) }
            }
        }
        return starts
    }

    /// Returns whether a sentence ends between two tokens.
    ///
    /// It ends at a line break, at a full stop of Chinese and Japanese, and at another stop with white space after it.
    private static func endsSentence(_ bytes: UnsafeBufferPointer<UInt8>, _ gap: Range<Int>) -> Bool {
        var hasStop = false
        for offset in gap {
            switch bytes[offset] {
            case UInt8(ascii: "\n"): return true
            case UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: "?"): hasStop = true
            // The ideographic full stop, and the full-width exclamation and question marks.
            case 0xe3 where offset + 2 < gap.upperBound && bytes[offset + 1] == 0x80 && bytes[offset + 2] == 0x82: return true
            case 0xef
            where offset + 2 < gap.upperBound && bytes[offset + 1] == 0xbc && (bytes[offset + 2] == 0x81 || bytes[offset + 2] == 0x9f):
                return true
            default: if hasStop, UTF8Scalar.spaceLength(bytes, at: offset) > 0 { return true }
            }
        }
        return false
    }
}
