import Foundation
import PolyStore

/// Texts whose words follow from a number, and full-text searches that are compared with the texts.
enum Searching {
    static func text(_ number: Int) -> String {
        var words = ["number\(number)"]
        if number % 4 != 0 { words.append("common") }
        words += number % 3 == 0 ? ["quick", "brown"] : ["brown", "quick"]
        words += (0..<number * 37 % 60).map { "filler\($0)" }
        return words.joined(separator: " ")
    }

    /// A search, and whether the words of a text satisfy it.
    private struct Query {
        let text: String
        let matches: ([Substring]) -> Bool
    }

    private static func isPhrase(_ words: [Substring]) -> Bool { zip(words, words.dropFirst()).contains { $0 == "quick" && $1 == "brown" } }

    private static var queries: [Query] {
        [
            Query(text: "common") { $0.contains("common") }, Query(text: "\"quick brown\"", matches: isPhrase),
            Query(text: "common filler50 -\"quick brown\"") { $0.contains("common") && $0.contains("filler50") && !isPhrase($0) },
            Query(text: "filler5*") { $0.contains { $0.hasPrefix("filler5") } },
        ]
    }

    /// Compares what searches of entries find with the texts of all entries.
    /// - Parameters:
    ///   - texts: The name and the text of each entry.
    ///   - words: Words of few texts or of none, which are searched in addition to the common ones.
    static func check(_ stack: DataStack, texts: [(String, String?)], words: [String]) throws {
        let divided = texts.map { ($0.0, $0.1?.split(separator: " ") ?? []) }
        for query in queries + words.map({ word in Query(text: word) { $0.contains { $0 == word } } }) {
            let expected = Set(divided.filter { query.matches($0.1) }.map(\.0))
            let found = try stack.readAndWait { [text = query.text] in try $0.fetchAll(From<Entry>().search(text)).map(\.name) }
            guard found.count == expected.count, Set(found) == expected else {
                let missing = expected.subtracting(found).sorted().prefix(5)
                let surplus = Set(found).subtracting(expected).sorted().prefix(5)
                fail(
                    "the search \(query.text) finds \(found.count) of \(expected.count) entries, misses \(missing), and finds also \(surplus)"
                )
            }
        }
    }

    /// Waits until the full-text index of entries is complete and serves searches. Does not wait without entries, because the plan of a search that finds nothing need
    /// not name the index.
    static func waitUntilBuilt(_ stack: DataStack) throws {
        guard try stack.readAndWait({ try $0.fetchCount(From<Entry>()) }) > 0 else { return }
        let end = ContinuousClock.now + .seconds(300)
        while try !stack.readAndWait({ try $0.explain(From<Entry>().search("common").limit(1)) }).contains("full-text index") {
            if ContinuousClock.now > end { fail("the full-text index is not complete after five minutes") }
            usleep(20_000)
        }
    }
}
