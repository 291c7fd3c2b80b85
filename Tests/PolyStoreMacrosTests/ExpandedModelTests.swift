import Foundation
import Testing

/// The checked-in expansions equal what the macros generate.
@Suite struct ExpandedModelTests {
    @Test(arguments: ExpandedModels.all)
    func checkedInExpansionsAreCurrent(_ set: ExpandedModels) async throws {
        let current = try await set.expand()
        if ProcessInfo.processInfo.environment["POLYSTORE_WRITE_EXPANDED_MODELS"] == "1" { try set.write(current) }
        let checkedIn = try ExpandedModels.files(in: set.expanded)
        #expect(!current.isEmpty)
        for name in Set(checkedIn.keys).subtracting(current.keys).sorted() {
            Issue.record("\(set.expanded.path)/\(name) has no model. Delete the file.")
        }
        for (name, expansion) in current.sorted(by: { $0.key < $1.key }) {
            let path = "\(set.expanded.path)/\(name)"
            let advice = "Run this test with POLYSTORE_WRITE_EXPANDED_MODELS=1 to write it."
            guard let file = checkedIn[name] else {
                Issue.record("\(path) is missing. \(advice)")
                continue
            }
            guard let difference = firstDifference(file, expansion) else { continue }
            Issue.record("\(path):\(difference.line) differs from the expansion, which has: \(difference.expected). \(advice)")
        }
    }

    @Test func theFirstDifferenceIsFound() {
        #expect(firstDifference("let a = 1\n", "let a  =\n    1") == nil)
        #expect(firstDifference("let a = 1\nlet b = 2\n", "let a = 1\n\nlet b = 3 + 4\n")?.line == 2)
        #expect(firstDifference("let a = 1\nlet b = 2\n", "let a = 1\n\nlet b = 3 + 4\n")?.expected == "let b = 3 + 4")
        #expect(firstDifference("// a\nlet a = 1", "// b\nlet a = 1")?.line == 1)
        #expect(firstDifference("let a = 1\n", "let a = 1\nlet b = 2\n")?.expected == "let b = 2")
        #expect(firstDifference("let a = 1\nlet b = 2\n", "let a = 1\n")?.line == 2)
    }

    /// Compares the tokens and comments of two files. White space depends on the version of swift-syntax.
    ///
    /// - Returns: The line of the first difference in the file, and the line of the expansion, or `nil` if the files are equal.
    private func firstDifference(_ file: String, _ expansion: String) -> (line: Int, expected: String)? {
        if file == expansion { return nil }
        let (found, expected) = (words(file), words(expansion))
        let equal = zip(found, expected).prefix { $0.text == $1.text }.count
        guard equal < max(found.count, expected.count) else { return nil }
        let lines = expansion.split(separator: "\n", omittingEmptySubsequences: false)
        return (
            found[min(equal, found.count - 1)].line,
            lines[expected[min(equal, expected.count - 1)].line - 1].trimmingCharacters(in: .whitespaces)
        )
    }

    /// Returns the comments and the tokens of a file with their lines, including the empty token at its end.
    private func words(_ source: String) -> [(text: String, line: Int)] {
        let end = source.utf8.count { $0 == UInt8(ascii: "\n") } + 1
        return SourceToken.tokens(of: source).map { ($0.text, $0.line) } + [("", end)]
    }
}
