import PolyStoreSearch
import Testing

@Suite struct TokenizerTests {
    @Test func wordsAreFoldedAndNumbered() {
        let tokens = SearchTokenizer().tokens(in: "Two Words")
        #expect(tokens.map { String(decoding: $0.term, as: UTF8.self) } == ["two", "words"])
        #expect(tokens.map(\.position) == [0, 1])
        #expect(tokens.map(\.range) == [0..<3, 4..<9])
    }
}
