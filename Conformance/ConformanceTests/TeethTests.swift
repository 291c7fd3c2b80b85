import PolyStoreConformance
import Testing

extension BrokenBackend: CustomTestStringConvertible {
    public var testDescription: String { description }
}

/// A suite that passes everything proves nothing.
@Suite struct ConformanceTeeth {
    @Test(arguments: BrokenBackend.all)
    func everyFaultIsCaughtByTheCaseThatNamesIt(_ broken: BrokenBackend) async throws {
        let named = try #require(ConformanceCase.all.first { $0.id == broken.caughtBy }, "there is no case \(broken.caughtBy)")
        await #expect(throws: ConformanceFailure.self, "\(broken.caughtBy) passes on a backend that \(broken)") {
            try await named.run(broken.target)
        }
    }

    /// The faults are in the wrapper's branches, not in the wrapper: cases that a fault does not touch pass.
    @Test(arguments: BrokenBackend.all)
    func whatIsNotBrokenPasses(_ broken: BrokenBackend) async throws {
        let sound = try #require(ConformanceCase.all.first { $0.id == "value.string.edges" })
        if broken.caughtBy.hasPrefix("writing.update") || broken.caughtBy.hasPrefix("transaction.snapshot") { return }
        try await sound.run(broken.target)
    }
}
