import Foundation
import PolyStoreSearch
import SeededRandom
import Testing

@Suite struct TokenizerTests {
    @Test func wordsAreFoldedAndNumbered() {
        let tokens = SearchTokenizer().tokens(in: "Two Words")
        #expect(tokens.map { String(decoding: $0.term, as: UTF8.self) } == ["two", "words"])
        #expect(tokens.map(\.position) == [0, 1])
        #expect(tokens.map(\.range) == [0..<3, 4..<9])
    }

    @Test func rangesAreAlsoIndexesOfTheText() {
        let text = "Zoë’s größter 日本 👍🏽"
        let words = SearchTokenizer().tokens(in: text).map { String(text[$0.range(in: text)]) }
        #expect(words == ["Zoë", "s", "größter", "日本", "本", "👍🏽"])
    }

    private static func terms(_ text: String) -> [[UInt8]] { SearchTokenizer().tokens(in: text).map(\.term) }

    @Test(arguments: [1, 20, 42, 43, 60, 113, 400]) func longWordsAreComposedBeforeTheyAreCut(syllables: Int) throws {
        for unit in ["한", "검색가", "কো", "தமிழோ", "ಕೋ", "آ\u{655}", "ガ", "क़ि\u{301}"] {
            let word = String(repeating: unit, count: syllables)
            let forms = [word, word.decomposedStringWithCanonicalMapping, word.precomposedStringWithCanonicalMapping]
            for form in forms {
                #expect(Self.terms(form) == Self.terms(word), "\(unit)")
                let search = try Search("\"\(form)\"").resolved(fields: ["t"], options: SearchOptions())
                for text in forms { #expect(SearchMatcher(search, SearchOptions()).matches(["x \(text) y"]), "\(unit)") }
            }
            #expect(Self.terms(word).allSatisfy { $0.count <= 128 && String(validating: $0, as: UTF8.self) != nil })
        }
        let term = try #require(Self.terms(String(repeating: "한", count: syllables).decomposedStringWithCanonicalMapping).first)
        #expect(String(decoding: term, as: UTF8.self) == String(repeating: "한", count: min(syllables, 42)))
    }

    @Test func equivalentWordsOfScriptsWithCompositionsHaveOneTerm() {
        let scripts: [[UInt32]] = [
            [0x995, 0x9c7, 0x9be, 0x9d7, 0x9bc, 0x9cb, 0x9cc, 0x9a1, 0x9dc, 0x9cd], [0xb95, 0xbc6, 0xbc7, 0xbbe, 0xbd7, 0xbca, 0xb92],
            [0xc95, 0xcc6, 0xcc2, 0xcd5, 0xcca, 0xccb, 0xcbf, 0xcc0, 0xcbc],
            [0x627, 0x653, 0x654, 0x655, 0x622, 0x625, 0x650, 0x651, 0x648],
            [0x1100, 0x1161, 0x11a8, 0xac00, 0xac01, 0x61], [0x304b, 0x3099, 0x304c, 0x309a, 0x65e5, 0x30cf],
            [0x1025, 0x102e, 0x1026, 0x1037, 0x103a],
            [0x928, 0x93c, 0x929, 0x958, 0x94d, 0x951, 0x952, 0x301],
        ]
        for seed in 1...1_000 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let script = random.pick(scripts)
            let scalars = (0..<random.below(random.once(in: 4) ? 120 : 8)).compactMap { _ in Unicode.Scalar(random.pick(script)) }
            let word = String(String.UnicodeScalarView(scalars))
            for form in [word.decomposedStringWithCanonicalMapping, word.precomposedStringWithCanonicalMapping] {
                #expect(Self.terms(form) == Self.terms(word), "seed \(seed): \(scalars)")
            }
        }
    }

    @Test(arguments: [
        "\u{1f642}\u{200d}\u{2194}\u{fe0f}", "\u{1f642}\u{200d}\u{2195}\u{fe0f}", "\u{26d3}\u{fe0f}\u{200d}\u{1f4a5}",
        "\u{1f469}\u{1f3fd}\u{200d}\u{2695}\u{fe0f}", "\u{1f3c3}\u{200d}\u{2642}\u{fe0f}\u{200d}\u{27a1}\u{fe0f}",
        "\u{1f441}\u{200d}\u{a9}",
    ]) func emojiWithJoinedSignsAreOneToken(emoji: String) throws {
        let tokens = SearchTokenizer().tokens(in: "a\(emoji) b")
        #expect(tokens.count == 3 && tokens[1].range == 1..<(1 + emoji.utf8.count))
        let search = try Search(emoji).resolved(fields: ["t"], options: SearchOptions())
        #expect(SearchMatcher(search, SearchOptions()).matches(["a\(emoji) b"]))
        #expect(!SearchMatcher(search, SearchOptions()).matches(["a\(emoji.unicodeScalars.first.map(String.init) ?? "") \u{2194} b"]))
    }

    @Test func aSignAfterAJoinerIsATokenOnlyInAnEmoji() {
        #expect(Self.terms("a\u{200d}\u{2194} \u{200d}\u{a9} \u{1f642} \u{2194}").count == 2)
    }

    @Test func rangesEndWithTheInvisibleCharactersOfTheirCharacter() throws {
        let text = "a\u{200d} \u{1f44d}\u{200d} \u{2764}\u{fe0f}! 葛\u{e0100}城\u{fe00} co\u{ad}op\u{ad} x\u{34f}\u{200c}."
        let words = SearchTokenizer().tokens(in: text).map { Array(text[$0.range(in: text)].unicodeScalars.map(\.value)) }
        #expect(
            words == [
                [0x61, 0x200d], [0x1f44d, 0x200d], [0x2764, 0xfe0f], [0x845b, 0xe0100, 0x57ce, 0xfe00], [0x57ce, 0xfe00],
                [0x63, 0x6f, 0xad, 0x6f, 0x70],
                [0x78, 0x34f, 0x200c],
            ])
        let matcher = SearchMatcher(try Search("葛").resolved(fields: ["t"], options: SearchOptions()), SearchOptions())
        #expect(matcher.highlights(in: text, field: 0).map { text[$0].unicodeScalars.map(\.value) } == [[0x845b, 0xe0100]])
    }

    @Test func rangesOfTokensAndHighlightsAreWholeCharacters() throws {
        let pieces = [
            "a", "é", "日", "本", "か\u{3099}", "กิ", "👍", "👍🏽", "👩\u{200d}💻", "🇩🇪", "가", "क्", "5", " ", "\u{fe0f}", "\u{200d}", "\u{200c}",
            "\u{e0101}",
            "\u{ad}", "\u{180b}", "\u{34f}", "\u{2194}", "e\u{301}",
        ]
        let matcher = SearchMatcher(try Search("日 OR か OR a OR 👍").resolved(fields: ["t"], options: SearchOptions()), SearchOptions())
        for seed in 1...1_000 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let text = (0..<(1 + random.below(10))).map { _ in random.pick(pieces) }.joined()
            let borders = Set(text.indices.map { $0.utf16Offset(in: text) } + [text.utf16.count])
            let ranges = SearchTokenizer().tokens(in: text).map { $0.range(in: text) } + matcher.highlights(in: text, field: 0)
            for range in ranges {
                let isWhole = [range.lowerBound, range.upperBound].allSatisfy { borders.contains($0.utf16Offset(in: text)) }
                #expect(isWhole, "seed \(seed): \(text.unicodeScalars.map { String($0.value, radix: 16) })")
            }
        }
    }
}
