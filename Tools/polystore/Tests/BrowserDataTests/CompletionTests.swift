import BrowserData
import PolyStore
import StoreTesting
import Testing

@Suite struct CompletionTests {
    /// Conditions with the caret at `|`, and words that must be offered, the first one first.
    private static let cases: [(text: String, words: [String])] = [
        ("|", ["rank", "isNew", "NOT"]), ("ra|", ["rank", "rating"]), ("NOT na|", ["name"]), ("rank |", ["==", "<"]),
        ("name BEG|", ["BEGINSWITH[c]"]), ("isNew == |", ["TRUE", "FALSE"]), ("isNew == F|", ["FALSE"]), ("rank == |", ["NULL"]),
        ("rank == 3 |", ["AND", "OR"]), ("rank == 3 A|", ["AND"]), ("rank == 3 AND ma|", ["made", "maker"]), ("maker.|", ["maker.title"]),
        ("maker.ti|", ["maker.title"]), ("maker.title == 'Maker|'", ["'Maker 0'", "'Maker 1'"]), ("(rank > 2 OR (s|", ["score", "serial"]),
        ("name == '|", ["''", "'a'", "'b'"]), ("ANY parts.nu|", ["parts.number"]), ("maker |", ["==", "!="]),
        ("name == 'a' AND |", ["rank"]),
    ]

    @Test func wordsContinueAConditionAtTheCaret() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        for (marked, expected) in Self.cases {
            let text = marked.replacing("|", with: "")
            let caret = marked.prefix { $0 != "|" }.count
            let found = try await store.completions(of: text, at: caret, entity: "Item")
            let words = found.words.map(\.text)
            #expect(words.first == expected.first, "\(marked): \(words)")
            for word in expected { #expect(words.contains(word), "\(marked): \(words)") }
            #expect(found.replaced.lowerBound <= caret && caret <= found.replaced.upperBound && found.replaced.upperBound <= text.count)
        }
        try await store.close()
    }

    @Test func anyTextAndPlaceHasAnAnswer() async throws {
        let folder = try TemporaryFolder()
        let store = try Engine.sqlite.open(Shop.schema, in: folder, Shop.fill)
        let pieces = ["name", " ", "'", "\"", "#\"", "\\", "==", "(", ")", "[", "]", "AND", "1", ".", "é", "\0", "{", "$x", "%@", "\n"]
        var random = Numbers(seed: 3)
        for _ in 0..<500 {
            let text = (0..<random.next(9)).map { _ in pieces[random.next(pieces.count)] }.joined()
            for caret in -1...text.count + 1 {
                let found = try await store.completions(of: text, at: caret, entity: "Item")
                #expect(0 <= found.replaced.lowerBound && found.replaced.upperBound <= text.count)
            }
        }
        await #expect(throws: StoreError.self) { try await store.completions(of: "", at: 0, entity: "Nothing") }
        try await store.close()
    }
}
