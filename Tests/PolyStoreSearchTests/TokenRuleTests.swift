import Foundation
import PolyStoreSearch
import Testing

/// The examples of docs/search-tokens.md.
@Suite struct TokenRuleTests {
    struct Rule: CustomStringConvertible {
        var description: String
        var text: String
        var terms: [String]
        var options: SearchOptions
    }

    static let rules: [Rule] = {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs/search-tokens.md")
        guard let content = try? String(contentsOf: page, encoding: .utf8) else { return [] }
        return content.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard line.hasPrefix("|"), cells.count == 3, let text = code(cells[1]), let terms = code(cells[2]) else { return nil }
            let stemming: SearchOptions.Stemming = cells[0].contains("(`english`)") ? .english : .none
            // A space may be one character with the sign after it, so the terms are divided by scalars.
            let list = terms.unicodeScalars.split(separator: " ").map { String($0) }
            return Rule(description: cells[0], text: text, terms: list, options: SearchOptions(stemming: stemming))
        }
    }()

    /// Returns the text between backticks, with numbered references of characters replaced.
    private static func code(_ cell: String) -> String? {
        guard cell.hasPrefix("`"), cell.hasSuffix("`"), cell.count > 2 else { return nil }
        var parts = cell.dropFirst().dropLast().components(separatedBy: "&#x")
        for index in parts.indices.dropFirst() {
            let end = parts[index].firstIndex(of: ";") ?? parts[index].endIndex
            let scalar = UInt32(parts[index][..<end], radix: 16).flatMap(Unicode.Scalar.init) ?? "?"
            parts[index] = String(Character(scalar)) + parts[index][end...].dropFirst()
        }
        return parts.joined()
    }

    @Test func thePageHasItsExamples() { #expect(Self.rules.count >= 27) }

    @Test(arguments: rules) func theExampleGivesItsTerms(rule: Rule) {
        let terms = SearchTokenizer(rule.options).tokens(in: rule.text).map { Array($0.term) }
        #expect(terms == rule.terms.map { Array($0.utf8) }, "\(terms.map { String(decoding: $0, as: UTF8.self) })")
    }

    @Test(arguments: rules) func theExampleAsAQueryFindsItself(rule: Rule) throws {
        for query in [rule.text] + rule.text.split(separator: " ").map(String.init) {
            let search = try Search(query).resolved(fields: ["text"], options: rule.options)
            let isEmpty = SearchTokenizer().tokens(in: query).isEmpty
            #expect(SearchMatcher(search, rule.options).matches(["… " + rule.text + " …"]) == !isEmpty, "\(query)")
        }
    }
}
