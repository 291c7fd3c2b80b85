import PolyStoreConformance
import Testing

extension BrokenBackend: CustomTestStringConvertible {
    /// The description of the fault, as the test name.
    public var testDescription: String { description }
}

extension BrokenEngine: CustomTestStringConvertible {
    /// The description of the fault, as the test name.
    public var testDescription: String { description }
}

/// Checks that the suite detects faulty backends: a suite that passes everything proves nothing.
@Suite struct ConformanceTeeth {
    /// The time limit of a case that hangs. The case never ends, so the limit is safe on every machine.
    private static let hangLimit: Duration = .milliseconds(200)

    @Test(arguments: BrokenBackend.all)
    func everyFaultIsCaughtByTheCaseThatNamesIt(_ broken: BrokenBackend) async throws {
        let named = try #require(ConformanceCase.all.first { $0.id == broken.caughtBy }, "there is no case \(broken.caughtBy)")
        let error = await #expect(throws: ConformanceFailure.self, "\(broken.caughtBy) passes on a backend that \(broken)") {
            try await named.run(broken.target, timeLimit: broken.hangs ? Self.hangLimit : ConformanceCase.timeLimit)
        }
        #expect(error?.caseID == broken.caughtBy)
        if broken.hangs { #expect(error?.message.hasPrefix("did not end within") == true, "\(error as Any)") }
    }

    /// Faults are in branches of the wrapper: cases that a fault does not affect still pass.
    @Test(arguments: BrokenBackend.all)
    func whatIsNotBrokenPasses(_ broken: BrokenBackend) async throws {
        let sound = try #require(ConformanceCase.all.first { $0.id == "value.string.edges" })
        if broken.caughtBy.hasPrefix("writing.update") || broken.caughtBy.hasPrefix("transaction.snapshot") { return }
        try await sound.run(broken.target)
    }

    @Test(arguments: BrokenEngine.all)
    func everyFaultOfAnEngineIsCaughtByTheCaseThatNamesIt(_ broken: BrokenEngine) async throws {
        let limit = broken.hangs ? Self.hangLimit : ConformanceCase.timeLimit
        let error = await #expect(throws: ConformanceFailure.self, "\(broken.caughtBy) passes on an engine that \(broken)") {
            if let named = EngineCase.all.first(where: { $0.id == broken.caughtBy }) {
                try await named.run(broken.engine, timeLimit: limit)
            } else {
                let named = try #require(ConformanceCase.all.first { $0.id == broken.caughtBy }, "there is no case \(broken.caughtBy)")
                try await named.run(broken.backend, timeLimit: limit)
            }
        }
        #expect(error?.caseID == broken.caughtBy)
        if broken.hangs { #expect(error?.message.hasPrefix("did not end within") == true, "\(error as Any)") }
    }

    /// The engine without a fault passes, in a file and in a folder.
    @Test(arguments: EngineCase.all)
    func theEngineBelowTheFaultsIsSound(_ c: EngineCase) async throws {
        for sound in BrokenEngine.sound { try await c.run(sound.engine) }
    }

    @Test(arguments: ConformanceCase.all.filter { c in BrokenEngine.all.contains { $0.caughtBy == c.id } || c.id.hasPrefix("opening.") })
    func theBackendBelowTheFaultsIsSound(_ c: ConformanceCase) async throws {
        for sound in BrokenEngine.sound { try await c.run(sound.backend) }
    }
}
