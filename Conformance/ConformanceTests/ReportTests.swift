import ConformanceTargets
import Dispatch
import PolyStoreBackend
import PolyStoreConformance
import PolyStoreMemory
import Testing

/// The report contains all results, including failures.
@Suite struct ConformanceReportTests {
    private static let few = ConformanceCase.all.filter { $0.id.hasPrefix("capability.") || $0.id.hasPrefix("reopen.") }

    @Test func passesAndSkipsAreCounted() async {
        let report = await ConformanceReport.run([Targets.memory, Targets.sqlite], cases: Self.few)
        #expect(report.failures == [])
        #expect(report.entries.count == 2 * (Self.few.count + 1))
        #expect(report.text.contains("  persistence          –       yes\n"))
        #expect(report.text.contains("  reopen      0 / 0 (6)    6 / 6\n"))
        #expect(report.markdown.contains("| memory | needs persistence | reopen."))
    }

    @Test func failuresAreListed() async throws {
        let defective = try #require(DefectiveBackend.all.first { $0.caughtBy == "query.limit.and-offset" })
        let report = await ConformanceReport.run([defective.target], cases: ConformanceCase.all.filter { $0.id == defective.caughtBy })
        #expect(report.failures.map(\.caseID) == [defective.caughtBy])
        #expect(report.markdown.contains("### Failed"))
    }

    @Test func differentClaimsAreAFailure() async {
        let target = ConformanceTarget(name: "too much", capabilities: [.persistence]) { _ in .inMemory() }
        let report = await ConformanceReport.run([target], cases: [])
        #expect(report.failures.map(\.caseID) == ["claims"])
        #expect(report.text.contains("persistence less than its author says"))
    }

    /// Cases about local files are skipped for a backend that has none, and a backend that has files cannot deny them.
    @Test func casesAboutFilesAreSkippedWithoutFiles() async throws {
        let ids = [
            "opening.foreign-file.is-refused", "opening.missing-folder.is-an-io-error", "kill.full.is-in-the-files", "opening.new.is-empty",
        ]
        let cases = ConformanceCase.all.filter { ids.contains($0.id) }
        #expect(cases.count == ids.count)
        let elsewhere = ConformanceTarget(name: "elsewhere", capabilities: Targets.sqlite.capabilities, keepsLocalFiles: false) {
            location in
            Targets.configuration("sqlite", location.path)
        }
        for c in cases { #expect(c.reasonToSkip(elsewhere) == (c.id == "opening.new.is-empty" ? nil : "keeps no local files")) }
        for c in cases { #expect(c.reasonToSkip(Targets.sqlite) == nil) }
        let report = await ConformanceReport.run([elsewhere], cases: cases)
        #expect(report.failures.map(\.caseID) == ["claims"])
        #expect(report.text.contains("keeps files at its path, which its author denies"))
        #expect(report.text.contains("keeps no local files"))
    }

    /// A case that hangs is reported by name, and the other cases still run.
    @Test func caseThatHangsFailsWithItsID() async {
        let hanging = ConformanceTarget(name: "hanging", capabilities: [.concurrentReaders]) { location in
            StoreConfiguration(engine: "hanging", location: location.path) { _ in
                // The semaphore is never signaled.
                DispatchSemaphore(value: 0).wait()
                throw StoreError(.io, "never reached")
            }
        }
        let cases = ConformanceCase.all.filter { ["opening.new.is-empty", "opening.close.ends-use"].contains($0.id) }
        let messages = await withTaskGroup(of: String.self) { group in
            for c in cases {
                group.addTask {
                    do {
                        try await c.run(hanging, timeLimit: .milliseconds(1))
                        return "\(c.id) passed"
                    } catch { return "\(error)" }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(messages.count == 2)
        for c in cases { #expect(messages.contains { $0.hasPrefix("\(c.id): did not end within") }, "\(messages)") }
    }

    /// The teardown removes data outside the scratch folder after each case, whether or not the case passes.
    @Test func teardownRunsAfterEachCase() async throws {
        let (opened, removed) = (Protected<[String]>([]), Protected<[String]>([]))
        let found = try #require(ConformanceCase.all.first { $0.id == "opening.new.has-metadata" })
        for isFailing in [false, true] {
            let target = ConformanceTarget(
                name: "counted", capabilities: Targets.memory.capabilities,
                store: { location in
                    opened.withLock { $0.append(location.path) }
                    guard isFailing else { return .inMemory() }
                    return StoreConfiguration(engine: "failing", location: location.path) { _ in throw StoreError(.io, "This store fails.")
                    }
                }, teardown: { location in removed.withLock { $0.append(location.path) } })
            if isFailing {
                await #expect(throws: ConformanceFailure.self) { try await found.run(target) }
            } else {
                try await found.run(target)
            }
        }
        #expect(opened.withLock { $0.count } == 3)
        #expect(removed.withLock { $0 } == opened.withLock { $0 })
    }
}
