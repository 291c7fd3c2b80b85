import PolyStoreSearch
import TestSupport
import Testing

@testable import PolyStoreSearchIndex

/// Small commits after large ones, with merges of default sizes.
@Suite struct SteadyChangeTests {
    @Test func indexAgreesWithTheTextsAfterEachOfManySmallCommits() throws {
        let pages = PageMap()
        var texts: [Int64: [String?]] = [:]
        func write(_ changes: [(Int64, [String?])]) throws {
            let writer = SearchIndexWriter(pages, fields: 2, options: SearchOptions())
            for (id, new) in changes {
                try writer.replace(id, old: texts[id], new: new)
                texts[id] = new
            }
            try writer.flush()
        }
        for batch in 0..<3 {
            try write((0..<200).map { (Int64(batch * 200 + $0), ["lazy \($0 % 17) fox \($0)", "dog \($0 % 5)"]) })
        }
        for id in 0..<Ring.size(60, thorough: 120) {
            try write([(Int64(10_000 + id), ["lazy fox \(10_000 + id)", nil]), (Int64(1 + id % 500), ["lazy 3", "quick brown \(id)"])])
            guard id % Ring.size(10, thorough: 6) == 0 else { continue }
            let findings = try SearchIndexVerifier(pages, fields: 2, options: SearchOptions()).verify(
                { body in for (id, text) in texts.sorted(by: { $0.key < $1.key }) { try body(id, text) } }, check: {})
            if findings != [] {
                Issue.record("\(id): \(findings.prefix(3))")
                return
            }
        }
    }
}
