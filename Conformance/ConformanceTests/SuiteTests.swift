import ConformanceTargets
import PolyStoreBackend
import PolyStoreConformance
import Testing

/// Checks of the suite itself.
@Suite struct ConformanceSuite {
    private static let queryAreas = [
        "comparison", "text", "order", "query", "related", "expression", "plan", "refusal.related", "fields", "differential",
    ]

    @Test func idsAreUniqueAndWellFormed() {
        let ids = ConformanceCase.all.map(\.id)
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(
                id.split(separator: ".").count >= 2 && id.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "." || $0 == "-" }, "\(id)")
        }
    }

    /// Fails a run in which the suite has shrunk, or in which most cases were skipped.
    @Test(arguments: Targets.all)
    func minimumNumberOfCasesApplies(_ target: ConformanceTarget) {
        let skipped = ConformanceCase.all.compactMap { c in c.reasonToSkip(target).map { "\(c.id): \($0)" } }
        let applicable = ConformanceCase.all.count - skipped.count
        print("conformance \(target.name): \(applicable) cases apply, \(skipped.count) skipped")
        for line in skipped { print("  skipped \(line)") }
        #expect(applicable >= 590)
        let onQueries = ConformanceCase.all.filter { c in
            Self.queryAreas.contains { c.id.hasPrefix($0 + ".") } && c.reasonToSkip(target) == nil
        }
        print("conformance \(target.name): \(onQueries.count) of them on queries")
        #expect(onQueries.count >= 320)
    }

    /// The features that a backend claims are those that its target declares.
    @Test(arguments: Targets.all)
    func claimsEqualCapabilities(_ target: ConformanceTarget) async throws {
        #expect(try target.claimedFeatures() == target.capabilities)
    }
}
