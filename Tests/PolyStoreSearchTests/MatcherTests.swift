import Foundation
import PolyStoreSearch
import SeededRandom
import Testing

/// The matcher against a model that tries everything.
@Suite struct MatcherTests {
    static let programs = ProcessInfo.processInfo.environment["POLYSTORE_SEARCH_QUERIES"].flatMap(Int.init) ?? 1_500
    static let first = ProcessInfo.processInfo.environment["POLYSTORE_SEARCH_FIRST"].flatMap(UInt64.init) ?? 1

    @Test func randomQueriesMatchAsTheModel() throws {
        var matches = 0
        for seed in Self.first..<(Self.first + UInt64(Self.programs)) {
            var generator = SearchGenerator(random: SplitMix64(seed: seed))
            let options = SearchOptions(stemming: generator.random.once(in: 2) ? .english : .none)
            let query = generator.query()
            let search = try Search(query).resolved(fields: ["title", "body"], options: options)
            let matcher = SearchMatcher(search, options)
            for _ in 0..<6 {
                let texts = [generator.random.once(in: 8) ? nil : generator.text(), generator.text()]
                let model = MatcherModel(search, texts, options)
                let found = matcher.match(texts)
                #expect(found == model.match, "seed \(seed): \(query) in \(texts)")
                #expect(matcher.matches(texts) == (found != nil), "seed \(seed): \(query) in \(texts)")
                let frequencies = matcher.frequencies(texts)
                let contains = search.phrases.indices.map { phrase in
                    search.ranked.contains(phrase) && texts.indices.contains { !model.occurrences(phrase, $0).isEmpty }
                }
                #expect(frequencies.contains == contains && frequencies.length == model.length, "seed \(seed): \(query) in \(texts)")
                matches += found == nil ? 0 : 1
            }
        }
        #expect(matches > Self.programs && matches < Self.programs * 5)
    }

    @Test func overlappingOccurrencesCountEach() throws {
        let search = try Search("\"a a\"").resolved(fields: ["t"], options: SearchOptions())
        #expect(SearchMatcher(search, SearchOptions()).match(["a a a b a a"])?.occurrences == [[3]])
    }

    @Test func aPhraseCountsInAnAlternativeThatIsNotSatisfied() throws {
        let search = try Search("(a missing) OR b").resolved(fields: ["t"], options: SearchOptions())
        #expect(SearchMatcher(search, SearchOptions()).match(["a b"])?.occurrences == [[1], [0], [1]])
    }

    @Test func excludedPhrasesDoNotCount() throws {
        let search = try Search("a -\"a b\"").resolved(fields: ["t", "u"], options: SearchOptions())
        let matcher = SearchMatcher(search, SearchOptions())
        #expect(matcher.match(["a c b", nil])?.occurrences == [[1, 0], [0, 0]])
        #expect(matcher.match(["a", "a b"]) == nil)
    }

    @Test func aPhraseDoesNotReachFromOneFieldIntoTheNext() throws {
        let search = try Search("\"a b\"").resolved(fields: ["t", "u"], options: SearchOptions())
        #expect(SearchMatcher(search, SearchOptions()).match(["a", "b"]) == nil)
    }

    @Test func nearCountsTheWordsBetweenThePhrases() throws {
        let search = try Search("NEAR(\"a b\" c, 2)").resolved(fields: ["t", "u"], options: SearchOptions())
        let matcher = SearchMatcher(search, SearchOptions())
        #expect(matcher.matches(["a b x x c", nil]))
        #expect(!matcher.matches(["a b x x x c", nil]))
        #expect(matcher.matches(["c x x a b", nil]))
        #expect(!matcher.matches(["c x x x a b", nil]))
        #expect(!matcher.matches(["a b", "c"]))
        #expect(matcher.match(["a b c x x x x a b", nil])?.occurrences == [[1, 0], [1, 0]])
    }

    @Test func searchesThatNoTextSatisfiesAndTextsWithoutTokensMatchNothing() throws {
        for query in ["", "-a", "title:(body:a)"] {
            let matcher = SearchMatcher(try Search(query).resolved(fields: ["title", "body"], options: SearchOptions()), SearchOptions())
            #expect(!matcher.matches(["a", "b"]) && matcher.match(["a", "b"]) == nil)
        }
        let matcher = SearchMatcher(try Search("a").resolved(fields: ["title"], options: SearchOptions()), SearchOptions())
        #expect(matcher.match([]) == nil && matcher.match([nil]) == nil && matcher.match([""]) == nil)
        #expect(matcher.frequencies([nil]) == ([false], 0))
        let empty = ResolvedSearch(phrases: [ResolvedSearch.Phrase(terms: [], isPrefix: false, fields: .max)], root: .phrase(0))
        #expect(!SearchMatcher(empty, SearchOptions()).matches(["a"]))
    }

    @Test func anyDistanceOfNearIsPermitted() {
        let phrases = [0, 1].map { ResolvedSearch.Phrase(terms: [[97 + UInt8($0)]], isPrefix: false, fields: .max) }
        for (distance, isFound) in [(Int.max, true), (0, false), (Int.min, false)] {
            let search = ResolvedSearch(phrases: phrases, root: .near([0, 1], distance: distance))
            #expect(SearchMatcher(search, SearchOptions()).matches(["a x b"]) == isFound)
        }
    }

    @Test func aPhraseInAFieldAfterThe64thIsFoundWithoutAName() throws {
        let fields = (0..<70).map { "f\($0)" }
        let matcher = SearchMatcher(try Search("a").resolved(fields: fields, options: SearchOptions()), SearchOptions())
        #expect(matcher.matches([String?](repeating: nil, count: 69) + ["a"]))
    }
}

private func == (left: (contains: [Bool], length: Int), right: ([Bool], Int)) -> Bool { left.contains == right.0 && left.length == right.1 }
