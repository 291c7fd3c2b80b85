import PolyStoreSearch
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
}
