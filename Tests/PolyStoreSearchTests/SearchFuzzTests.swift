import Foundation
import PolyStoreSearch
import SeededRandom
import Testing

/// Random bytes for the tokenizer and the parser. `POLYSTORE_SEARCH_FUZZ` is the number of inputs, `POLYSTORE_SEARCH_FUZZ_FIRST` the first seed.
@Suite struct SearchFuzzTests {
    static let inputs = ProcessInfo.processInfo.environment["POLYSTORE_SEARCH_FUZZ"].flatMap(Int.init) ?? 2_000
    static let first = ProcessInfo.processInfo.environment["POLYSTORE_SEARCH_FUZZ_FIRST"].flatMap(UInt64.init) ?? 1
    static var seeds: Range<UInt64> { first..<(first + UInt64(inputs)) }

    /// Characters with rules of their own, and parts of them.
    private static let pieces: [[UInt8]] =
        [
            "a", "Zz", "7", "'", "’", " ", ".", "-", "é", "e\u{301}", "\u{301}", "ß", "ﬁ", "İ", "日", "本", "か\u{3099}", "ー", "ก", "กิ", "ำ",
            "\u{ad}", "\u{200b}", "\u{200d}",
            "\u{feff}", "👍", "🏽", "\u{fe0f}", "🇩", "🇪", "👩\u{200d}💻", "가", "\u{1100}", "\u{1161}", "\u{11a8}", "क", "\u{93c}", "\u{94d}",
            "\u{9c7}", "\u{9be}", "א", "\u{5b0}", "\u{5bc}",
            "\u{627}", "\u{654}", "Ａ", "\0", "\n", "\u{e0067}", "\u{e007f}", "\u{cc6}", "\u{cc2}", "\u{cd5}", "\u{fb1d}", "\u{958}",
            "\u{f900}", "½", "Ⅷ", "running", "happily",
        ].map { Array($0.utf8) } + [
            [0xc3], [0xe2, 0x80], [0xf0, 0x9f, 0x91], [0x80], [0xff], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
        ]

    /// Parts of words that are longer than terms.
    private static let longPieces: [[UInt8]] = [("x", 63), ("Y", 128), ("é", 40), ("日", 3), ("क्", 25), ("กิ", 30), ("👍\u{200d}", 12)].map {
        Array(String(repeating: $0, count: $1).utf8)
    }

    private func text(_ random: inout SplitMix64, withLongWords: Bool = false) -> [UInt8] {
        if random.once(in: 10) { return random.bytes(random.below(40)) }
        return (0..<random.below(24)).flatMap { _ in
            withLongWords && random.once(in: 6) ? random.pick(Self.longPieces) : random.pick(Self.pieces)
        }
    }

    private func tokens(_ bytes: [UInt8], _ options: SearchOptions) -> [SearchToken] {
        var tokens: [SearchToken] = []
        bytes.withUnsafeBufferPointer { buffer in
            SearchTokenizer(options).forEachToken(in: buffer) { tokens.append(SearchToken(term: Array($0), range: $1, position: $2)) }
        }
        return tokens
    }

    @Test func tokensDependOnTheirBytesOnly() {
        var count = 0
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            let options = SearchOptions(stemming: random.once(in: 2) ? .english : .none)
            let (left, right) = (text(&random, withLongWords: true), text(&random, withLongWords: true))
            let first = tokens(left, options)
            count += first.count
            var end = 0
            for (position, token) in first.enumerated() {
                #expect(token.position == position && !token.term.isEmpty && token.range.upperBound >= end, "seed \(seed)")
                #expect(tokens(Array(left[token.range]), options).first?.term == token.term, "seed \(seed): \(token)")
                end = token.range.upperBound
            }
            // A space separates all tokens.
            let shift = left.count + 1
            let second = tokens(right, options).map {
                SearchToken(
                    term: $0.term, range: ($0.range.lowerBound + shift)..<($0.range.upperBound + shift), position: $0.position + first.count
                )
            }
            #expect(tokens(left + [0x20] + right, options) == first + second, "seed \(seed)")
            // Bytes that are not UTF-8 are read as the replacement character.
            let repaired = SearchTokenizer(options).tokens(in: String(decoding: left, as: UTF8.self))
            #expect(repaired.map(\.term) == first.map(\.term), "seed \(seed)")
        }
        #expect(count > Self.inputs)
    }

    @Test func canonicallyEquivalentTextsHaveTheSameTerms() {
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            // Foundation composes some tags with marks, as if they were letters.
            let scalars = String(decoding: text(&random), as: UTF8.self).unicodeScalars.filter { $0.value < 0xe0000 }
            let original = String(String.UnicodeScalarView(scalars))
            let terms = SearchTokenizer().tokens(in: original).map(\.term)
            for form in [original.decomposedStringWithCanonicalMapping, original.precomposedStringWithCanonicalMapping] {
                #expect(SearchTokenizer().tokens(in: form).map(\.term) == terms, "seed \(seed): \(original.debugDescription)")
            }
        }
    }

    @Test func everyQueryIsReadAndEveryTextFindsItself() throws {
        let operators = ["(", ")", "\"", "-", "*", " OR ", " AND ", "NEAR(", ", 3)", "title:", "x:", "“", " "].map { Array($0.utf8) }
        for seed in Self.seeds {
            var random = SplitMix64(seed: seed)
            let options = SearchOptions(stemming: random.once(in: 2) ? .english : .none)
            let bytes = (0..<random.below(16)).flatMap { _ in random.once(in: 2) ? random.pick(operators) : random.pick(Self.pieces) }
            let query = String(decoding: bytes, as: UTF8.self)
            let search = try Search(query).resolved(fields: ["title", "body"], options: options)
            let description = Search(query).description
            let again = try Search(description).resolved(fields: ["title", "body"], options: options)
            #expect(again == search, "seed \(seed): \(query.debugDescription), \(description.debugDescription)")
            do {
                let strict = try Search(query: query).resolved(fields: ["title", "body"], options: options)
                #expect(strict == search, "seed \(seed): \(query.debugDescription)")
                let uniform = try Search(query: description).resolved(fields: ["title", "body"], options: options)
                #expect(uniform == search, "seed \(seed): \(description.debugDescription)")
            } catch {
                #expect((0...query.utf8.count).contains(error.offset) && !error.message.isEmpty, "seed \(seed): \(query.debugDescription)")
            }
            let document = String(decoding: text(&random), as: UTF8.self).replacingOccurrences(of: "\"", with: ".")
            try expectSelfMatch(document, options, seed)
        }
    }

    /// Expects that a text in quotation marks finds every text that contains it between other words.
    private func expectSelfMatch(_ text: String, _ options: SearchOptions, _ seed: UInt64) throws {
        let phrase = try Search("\"\(text)\"").resolved(fields: ["title"], options: options)
        guard !phrase.phrases.isEmpty else { return }
        let matcher = SearchMatcher(phrase, options)
        for document in [text, "x " + text + " y", "日 " + text + "。日"] {
            #expect(matcher.matches([document]), "seed \(seed): \(document.debugDescription)")
            #expect(!matcher.highlights(in: document, field: 0).isEmpty && matcher.snippet(of: [document]) != nil, "seed \(seed)")
        }
    }
}
