import PolyStoreConformance
import Testing

extension DefectiveBackend: CustomTestStringConvertible {
    /// The description of the fault, as the test name.
    public var testDescription: String { description }
}

extension DefectiveEngine: CustomTestStringConvertible {
    /// The description of the fault, as the test name.
    public var testDescription: String { description }
}

extension DefectiveSearch: CustomTestStringConvertible {
    /// The description of the fault, as the test name.
    public var testDescription: String { description }
}

/// Checks that the suite detects faulty backends: a suite that passes everything proves nothing.
@Suite struct DefectDetectionTests {
    /// The time limit of a case that hangs. The case never ends, so the limit is safe on every machine.
    private static let hangLimit: Duration = .milliseconds(200)

    @Test(arguments: DefectiveBackend.all)
    func everyDefectiveBackendFailsItsCase(_ defective: DefectiveBackend) async throws {
        let named = try #require(ConformanceCase.all.first { $0.id == defective.caughtBy }, "unknown case \(defective.caughtBy)")
        let error = await #expect(throws: ConformanceFailure.self, "\(defective.caughtBy) passes on a backend that \(defective)") {
            try await named.run(defective.target, timeLimit: defective.hangs ? Self.hangLimit : ConformanceCase.timeLimit)
        }
        #expect(error?.caseID == defective.caughtBy)
        if defective.hangs { #expect(error?.message.hasPrefix("did not end within") == true, "\(error as Any)") }
    }

    /// Faults are in branches of the wrapper: cases that a fault does not affect still pass.
    @Test(arguments: DefectiveBackend.all)
    func unaffectedCasesPass(_ defective: DefectiveBackend) async throws {
        let sound = try #require(ConformanceCase.all.first { $0.id == "value.string.edges" })
        if defective.caughtBy.hasPrefix("writing.update") || defective.caughtBy.hasPrefix("transaction.snapshot") { return }
        try await sound.run(defective.target)
    }

    @Test(arguments: DefectiveEngine.all)
    func everyDefectiveEngineFailsItsCase(_ defective: DefectiveEngine) async throws {
        let limit = defective.hangs ? Self.hangLimit : ConformanceCase.timeLimit
        let error = await #expect(throws: ConformanceFailure.self, "\(defective.caughtBy) passes on an engine that \(defective)") {
            if let named = EngineCase.all.first(where: { $0.id == defective.caughtBy }) {
                try await named.run(defective.engine, timeLimit: limit)
            } else {
                let named = try #require(
                    ConformanceCase.all.first { $0.id == defective.caughtBy }, "unknown case \(defective.caughtBy)")
                try await named.run(defective.backend, timeLimit: limit)
            }
        }
        #expect(error?.caseID == defective.caughtBy)
        if defective.hangs { #expect(error?.message.hasPrefix("did not end within") == true, "\(error as Any)") }
    }

    /// The engine without a fault passes, in a file and in a folder.
    @Test(arguments: EngineCase.all)
    func engineWithoutDefectPasses(_ c: EngineCase) async throws {
        for sound in DefectiveEngine.sound { try await c.run(sound.engine) }
    }

    @Test(arguments: ConformanceCase.all.filter { c in DefectiveEngine.all.contains { $0.caughtBy == c.id } || c.id.hasPrefix("opening.") })
    func backendWithoutDefectPasses(_ c: ConformanceCase) async throws {
        for sound in DefectiveEngine.sound { try await c.run(sound.backend) }
    }

    @Test(arguments: DefectiveSearch.all)
    func everyDefectiveSearchFailsItsCases(_ defective: DefectiveSearch) async throws {
        for id in defective.caughtBy {
            let named = try #require(ConformanceCase.all.first { $0.id == id }, "unknown case \(id)")
            let error = await #expect(throws: ConformanceFailure.self, "\(id) passes on a full-text index that \(defective)") {
                try await named.run(defective.target)
            }
            #expect(error?.caseID == id)
        }
    }

    /// The index without a defect passes the cases that detect defects, and those about scores.
    @Test(
        arguments: ConformanceCase.all.filter { c in
            c.id.hasPrefix("search.score.") || c.id.hasPrefix("search.explain.")
                || DefectiveSearch.all.contains { $0.caughtBy.contains(c.id) }
        })
    func searchWithoutDefectPasses(_ c: ConformanceCase) async throws { try await c.run(DefectiveSearch.sound.target) }

    /// The random searches detect every defect too.
    @Test(arguments: DefectiveSearch.all)
    func randomSearchesDetectDefects(_ defective: DefectiveSearch) async throws {
        for seed in 1...200 {
            do { try await Oracle.runSearches(seed: UInt64(seed), on: defective.target) } catch is ConformanceFailure { return }
        }
        Issue.record("200 cases pass on a full-text index that \(defective)")
    }
}
