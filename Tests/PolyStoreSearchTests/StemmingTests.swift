import PolyStoreSearch
import Testing

/// Stems of English words through the tokenizer.
@Suite struct StemmingTests {
    private let english = SearchTokenizer(SearchOptions(stemming: .english))

    private func stems(_ text: String) -> [String] { english.tokens(in: text).map { String(decoding: $0.term, as: UTF8.self) } }

    @Test func stemsAreThoseOfSnowball() {
        let pairs = stemSample.split(separator: ", ").map { $0.split(separator: " ").map(String.init) }
        #expect(pairs.count > 650)
        for pair in pairs {
            #expect(stems(pair[0]) == [pair[1]], "\(pair)")
        }
    }

    @Test func capitalLettersAndMarksAreFoldedBefore() {
        #expect(stems("RUNNING Naïvely cafés Straßen") == ["run", "naiv", "cafe", "strassen"])
    }

    @Test func wordsOfOtherLettersKeepTheirForm() { #expect(stems("лошадями ørings 日本") == ["лошадями", "ørings", "日本", "本"]) }

    @Test func rangesCoverTheWrittenWord() {
        #expect(english.tokens(in: "no running here").map(\.range) == [0..<2, 3..<10, 11..<15])
    }

    @Test func wordsAtTheLimitOfATermAreNotLengthened() {
        for length in 120...140 {
            let word = String(repeating: "b", count: length - 4) + "ated"
            let term = english.tokens(in: word)[0].term
            #expect(term.count <= 128 && term.count >= 118)
            #expect(english.tokens(in: word.uppercased())[0].term == term)
        }
    }
}
