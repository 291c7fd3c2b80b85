import PolyStoreConformance
import Testing

extension BrokenBackend: CustomTestStringConvertible {
    public var testDescription: String { description }
}

extension BrokenEngine: CustomTestStringConvertible {
    public var testDescription: String { description }
}

/// A suite that passes everything proves nothing.
@Suite struct ConformanceTeeth {
    /// What a case that hangs gets. It hangs for ever, so no machine is too slow for this.
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

    /// The faults are in the wrapper's branches, not in the wrapper: cases that a fault does not touch pass.
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

    /// The engine below the faults is sound, in a file and in a folder.
    @Test(arguments: EngineCase.all)
    func theEngineBelowTheFaultsIsSound(_ c: EngineCase) async throws {
        for sound in BrokenEngine.sound { try await c.run(sound.engine) }
    }

    @Test(arguments: ConformanceCase.all.filter { c in BrokenEngine.all.contains { $0.caughtBy == c.id } || c.id.hasPrefix("opening.") })
    func theBackendBelowTheFaultsIsSound(_ c: ConformanceCase) async throws {
        for sound in BrokenEngine.sound { try await c.run(sound.backend) }
    }
}
