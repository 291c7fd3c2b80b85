import ConformanceTargets
import PolyStoreConformance
import PolyStoreMemory
import Testing

/// The report tells what happened, the bad included.
@Suite struct ConformanceReportTests {
    private static let few = ConformanceCase.all.filter { $0.id.hasPrefix("capability.") || $0.id.hasPrefix("reopen.") }

    @Test func passesAndSkipsAreCounted() async {
        let report = await ConformanceReport.run([Targets.memory, Targets.sqlite], cases: Self.few)
        #expect(report.failures == [])
        #expect(report.entries.count == 2 * (Self.few.count + 1))
        #expect(report.text.contains("  persistence          –       yes\n"))
        #expect(report.text.contains("  reopen      0 / 0 (6)  6 / 6\n"))
        #expect(report.markdown.contains("| memory | needs persistence | reopen."))
    }

    @Test func failuresAreListed() async throws {
        let broken = try #require(BrokenBackend.all.first { $0.caughtBy == "query.limit.and-offset" })
        let report = await ConformanceReport.run([broken.target], cases: ConformanceCase.all.filter { $0.id == broken.caughtBy })
        #expect(report.failures.map(\.caseID) == [broken.caughtBy])
        #expect(report.markdown.contains("### Failed"))
    }

    @Test func claimsThatDifferAreAFailure() async {
        let target = ConformanceTarget(name: "too much", capabilities: [.persistence]) { _ in .inMemory() }
        let report = await ConformanceReport.run([target], cases: [])
        #expect(report.failures.map(\.caseID) == ["claims"])
        #expect(report.text.contains("persistence less than its author says"))
    }

    @Test func whatDoesNotFitTheTimeFails() async {
        let report = await ConformanceReport.run([Targets.memory], cases: Self.few, timeLimit: .zero)
        #expect(report.failures.count == 5)
    }
}
