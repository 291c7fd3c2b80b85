import PolyStoreSearch
import SeededRandom
import Testing

/// Highlights, marked texts and snippets.
@Suite struct HighlightTests {
    static func matcher(_ query: String, _ fields: [String] = ["t", "u"], _ options: SearchOptions = SearchOptions()) throws
        -> SearchMatcher
    {
        SearchMatcher(try Search(query).resolved(fields: fields, options: options), options)
    }

    static let examples: [(query: String, text: String, marked: String)] = [
        ("quick fox", "The Quick, brown fox.", "The [Quick], brown [fox]."),
        ("\"quick brown\"", "The Quick, brown fox.", "The [Quick, brown] fox."),
        ("\"a b\" \"b c\"", "a b c d", "[a b c] d"), ("a b", "a b", "[a] [b]"), ("e-mail", "An e-mail, an email", "An [e-mail], an email"),
        ("bro*", "brown bronze", "[brown] [bronze]"), ("strasse", "Die Straße!", "Die [Straße]!"),
        ("cafe", "ein Cafe\u{301} ", "ein [Cafe\u{301}] "),
        ("日本語", "私は日本語を話す", "私は[日本語]を話す"), ("語", "日本語を語る語", "日本[語]を[語]る[語]"), ("日本*", "日本語", "[日本]語"),
        ("วิว", "ดูวิวสวย", "ดู[วิว]สวย"), ("a -b", "a b c", "[a] b c"), ("NEAR(a b, 1)", "a x b x x a", "[a] x [b] x x a"),
        ("u:a", "a b", "a b"), ("t:a", "a b", "[a] b"), ("zz", "a b", "a b"), ("", "a b", "a b"), ("a", "", ""),
        ("\"a a\"", "a a a b", "[a a a] b"),
        ("👍", "ok👍🏽 👍", "ok👍🏽 [👍]"), ("aa OR \"a a\"*", "a aa aa", "[a aa] [aa]"), ("coop", "co\u{ad}op!", "[co\u{ad}op]!"),
    ]

    @Test(arguments: examples) func textsAreMarked(query: String, text: String, marked: String) throws {
        let matcher = try Self.matcher(query)
        #expect(matcher.highlighted(text, prefix: "[", suffix: "]") == marked)
        let parts = matcher.highlights(in: text, field: 0).map { String(text[$0]) }
        let bytes = Array(text.utf8)
        #expect(parts == matcher.highlightedBytes(in: text, field: 0).map { String(decoding: bytes[$0], as: UTF8.self) })
    }

    @Test func stemsHighlightTheWrittenWord() throws {
        let matcher = try Self.matcher("run", ["t"], SearchOptions(stemming: .english))
        #expect(matcher.highlighted("He's running; runs.") == "He's <b>running</b>; <b>runs</b>.")
    }

    @Test func htmlIsEscaped() throws {
        let matcher = try Self.matcher("b*")
        #expect(matcher.highlighted("a<b>&\"bc'", markup: .html) == "a&lt;<b>b</b>&gt;&amp;&quot;<b>bc</b>&#39;")
        let snippet = try #require(matcher.snippet(of: ["a<b>&\"bc'"]))
        #expect(snippet.highlighted(markup: .html) == "a&lt;<b>b</b>&gt;&amp;&quot;<b>bc</b>&#39;")
    }

    @Test func theSnippetIsAroundTheMostDifferentPhrases() throws {
        let filler = String(repeating: "x ", count: 40)
        let text = "alpha \(filler)alpha alpha \(filler)alpha y beta \(filler)"
        let snippet = try #require(try Self.matcher("alpha beta").snippet(of: [text], tokens: 7))
        #expect(snippet.text == "…x x alpha y beta x x…")
        #expect(snippet.highlights.map { String(snippet.text[$0]) } == ["alpha", "beta"])
        #expect(String(decoding: Array(text.utf8)[snippet.range], as: UTF8.self) == "x x alpha y beta x x")
        #expect(snippet.highlighted(prefix: "[", suffix: "]") == "…x x [alpha] y [beta] x x…")
    }

    @Test func theSnippetPrefersTheStartOfASentence() throws {
        let text = "One two three four five six. Seven eight alpha nine ten. Eleven twelve."
        let snippet = try #require(try Self.matcher("alpha").snippet(of: [text], tokens: 5))
        #expect(snippet.text == "…Seven eight alpha nine ten…")
        let japanese = try #require(try Self.matcher("車").snippet(of: ["今日は晴れ。電車に乗る。明日は雨。"], tokens: 5))
        #expect(japanese.text == "…電車に乗る…")
        #expect(japanese.highlights.map { String(japanese.text[$0]) } == ["車"])
    }

    @Test func theSnippetComesFromTheBestField() throws {
        let snippet = try #require(try Self.matcher("a b").snippet(of: ["a x", "b a"]))
        #expect(snippet.field == 1 && snippet.text == "b a" && snippet.range == 0..<3)
        let first = try #require(try Self.matcher("a").snippet(of: [nil, "a", "a"]))
        #expect(first.field == 1)
        #expect(try Self.matcher("a b").snippet(of: ["x", nil]) == nil)
        #expect(try Self.matcher("a").snippet(of: []) == nil)
    }

    @Test func aShortTextIsItsOwnSnippet() throws {
        let snippet = try #require(try Self.matcher("b").snippet(of: ["  (a b c!) "], tokens: 64))
        #expect(snippet.text == "  (a b c!) ")
    }

    @Test func aPhraseThatIsLongerThanTheSnippetIsCut() throws {
        let snippet = try #require(try Self.matcher("\"a b c d\"").snippet(of: ["x a b c d y"], tokens: 2))
        #expect(snippet.highlights.isEmpty && snippet.text.contains("a"))
        _ = try #require(try Self.matcher("a").snippet(of: ["x a b"], tokens: 0))
        _ = try #require(try Self.matcher("a").snippet(of: ["x a b"], tokens: .min))
        #expect(try Self.matcher("a").snippet(of: ["x a b"], tokens: .max)?.text == "x a b")
    }

    @Test func randomSnippetsArePartsOfTheirText() throws {
        var found = 0
        for seed in 1...600 as ClosedRange<UInt64> {
            var generator = SearchGenerator(random: SplitMix64(seed: seed))
            let matcher = try Self.matcher(generator.query(), ["title", "body"])
            let texts = [generator.text() + generator.text(), generator.text() + generator.text() + generator.text()]
            let size = 1 + generator.random.below(9)
            for (field, text) in texts.enumerated() {
                let ranges = matcher.highlightedBytes(in: text, field: field)
                #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound } && !ranges.contains { $0.isEmpty })
                let marked = matcher.highlighted(text, field: field, prefix: "\u{1}", suffix: "\u{2}")
                #expect(String(marked.unicodeScalars.filter { $0.value != 1 && $0.value != 2 }.map(Character.init)) == text)
            }
            guard let snippet = matcher.snippet(of: texts, tokens: size, ellipsis: "~") else { continue }
            found += 1
            let bytes = Array(texts[snippet.field].utf8)
            let part = String(decoding: bytes[snippet.range], as: UTF8.self)
            let before = snippet.range.lowerBound > 0 ? "~" : ""
            let after = snippet.range.upperBound < bytes.count ? "~" : ""
            #expect(snippet.text == before + part + after, "seed \(seed)")
            let whole = matcher.highlightedBytes(in: texts[snippet.field], field: snippet.field)
            let shift = snippet.range.lowerBound - before.utf8.count
            for range in snippet.highlightedBytes {
                #expect(
                    whole.contains { $0.lowerBound <= range.lowerBound + shift && range.upperBound + shift <= $0.upperBound },
                    "seed \(seed)")
            }
        }
        #expect(found > 200)
    }
}
