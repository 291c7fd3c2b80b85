import Foundation
import PolyStoreSearch
import Testing

/// Texts and queries that are made to break the tokenizer or the parser. They take time in proportion to their length.
@Suite struct HostileTextTests {
    /// The number of bytes of a text: 10 MB in the thorough ring.
    private static let size = ProcessInfo.processInfo.environment["POLYSTORE_RING"] == "thorough" ? 10_000_000 : 200_000

    private func repeated(_ unit: [UInt8], _ size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + unit.count)
        while bytes.count < size { bytes += unit }
        return bytes
    }

    private func tokens(_ bytes: [UInt8], _ options: SearchOptions = SearchOptions()) -> [SearchToken] {
        var tokens: [SearchToken] = []
        bytes.withUnsafeBufferPointer { buffer in
            SearchTokenizer(options).forEachToken(in: buffer) { term, range, position in
                tokens.append(SearchToken(term: Array(term), range: range, position: position))
            }
        }
        return tokens
    }

    @Test(arguments: ["x", "é", "日", "ก", "क्", "👍\u{200d}", "e\u{301}", "a\u{ad}", "x'", "\u{5d0}\u{5b0}\u{5bc}"])
    func aLongTextOfOneWord(
        unit: String
    ) throws {
        let bytes = repeated(Array(unit.utf8), Self.size)
        let found = tokens(bytes, SearchOptions(stemming: .english))
        let longest = found.map(\.term.count).max() ?? 0
        #expect(longest <= 128)
        #expect(found.last.map { $0.range.upperBound > bytes.count - 20 } == true)
        // Texts and queries are cut in the same way.
        let text = String(decoding: bytes, as: UTF8.self)
        let word = String(decoding: bytes.prefix(60_000 / unit.utf8.count * unit.utf8.count), as: UTF8.self)
        if found.count == 1 {
            #expect(SearchMatcher(try Search(word).resolved(fields: ["t"], options: SearchOptions()), SearchOptions()).matches([text]))
        }
    }

    @Test(arguments: [[0xcc, 0x81], [0xc2, 0xad], [0xe2, 0x80, 0x8d], [0], [0xff], [0x27], [0xd6, 0xb0]] as [[UInt8]])
    func aLongTextWithoutAWord(unit: [UInt8]) {
        let bytes = repeated(unit, Self.size)
        #expect(tokens(bytes).isEmpty)
        #expect(tokens(Array("a".utf8) + bytes + Array(" b".utf8)).map(\.term) == [[97], [98]])
        #expect(tokens(Array("日".utf8) + bytes + Array("本".utf8)).count == 2)
    }

    @Test func aWordOfTenMegabytesIsCut() {
        let found = tokens(repeated(Array("Wordword".utf8), 10_000_000))
        #expect(found.map(\.term) == [Array(String(repeating: "word", count: 32).utf8)])
        #expect(found.map(\.range) == [0..<10_000_000])
    }

    @Test func aCharacterWithManyMarksDoesNotHideTheNextOne() {
        let text = "ก" + String(repeating: "\u{e34}", count: 1_000) + "น"
        let terms = tokens(Array(text.utf8)).map(\.term)
        #expect(terms.map(\.count) == [66, 3])
        #expect(terms.map { String(decoding: $0.suffix(3), as: UTF8.self) } == ["น", "น"])
    }

    @Test func theTokensOfAllOfUnicodeHaveTermsAndAscend() {
        let scalars = (0..<0x110000).compactMap(Unicode.Scalar.init)
        for separator in ["", " ", "x"] {
            let text = scalars.reduce(into: "") {
                $0.unicodeScalars.append($1)
                $0 += separator
            }
            var end = 0
            var start = -1
            for token in tokens(Array(text.utf8)) {
                let isValid = !token.term.isEmpty && token.term.count <= 128 && String(validating: token.term, as: UTF8.self) != nil
                let ascends = token.range.lowerBound > start && token.range.upperBound >= end && !token.range.isEmpty
                if !isValid || !ascends { Issue.record("\(token)") }
                (start, end) = (token.range.lowerBound, token.range.upperBound)
            }
        }
    }

    @Test func bytesThatAreNotUTF8DivideWords() {
        let cases: [([UInt8], Int)] = [
            ([97, 0x80, 98], 2), ([97, 0xc3], 1), ([0xe6, 0x97, 97], 1), ([97, 0xed, 0xa0, 0x80, 98], 2),
            ([97, 0xf4, 0x90, 0x80, 0x80, 98], 2),
            ([0xc1, 0x81, 97], 1), ([0xe0, 0x80, 0x81, 97], 1), ([0xf0, 0x80, 0x80, 0x81, 97], 1), ([0xf8, 0x88, 0x80, 0x80, 0x80], 0),
            ([0xc3, 0xa9, 0xc3], 1), ([0xf0, 0x9f, 0x91], 0), ([97, 0x27, 0xc3], 1), ([97, 0x27], 1), ([0x27, 97], 1),
            ([97, 0xe2, 0x80, 0x99], 1),
        ]
        for (bytes, count) in cases { #expect(tokens(bytes).count == count, "\(bytes)") }
        #expect(tokens([]).isEmpty)
    }

    @Test(arguments: [
        "(", ")", "\"", "-", "*", "OR ", "AND ", "NEAR(", "NEAR(\"", "a:", "-(", "title:(", "((\"a\" OR ", "NEAR(a ", "“", ",", "a*", "-a ",
        "(-(a) OR b) ",
    ])
    func queriesOfOneOperatorAreReadInProportionToTheirLength(unit: String) throws {
        let query = String(repeating: unit, count: 65_536 / unit.utf8.count)
        let search = try Search(query).resolved(fields: ["title"], options: SearchOptions())
        #expect(search.phrases.count <= 64)
        #expect(!SearchMatcher(search, SearchOptions()).matches(["z"]))
        _ = Search(query).description
        _ = try? Search(query: query)
    }

    @Test func aPhraseOfOneWordInATextOfIt() throws {
        let search = try Search("\"" + String(repeating: "a ", count: 256) + "\"").resolved(fields: ["t"], options: SearchOptions())
        let matcher = SearchMatcher(search, SearchOptions())
        let text = String(repeating: "a ", count: 2_000)
        #expect(matcher.match([text])?.occurrences == [[2_000 - 255]])
        #expect(matcher.snippet(of: [text], tokens: 300) != nil)
        let near = try Search("NEAR(" + String(repeating: "a ", count: 30) + ", 1000000)").resolved(fields: ["t"], options: SearchOptions())
        #expect(SearchMatcher(near, SearchOptions()).match([text])?.occurrences.allSatisfy { $0 == [2_000] } == true)
    }
}
