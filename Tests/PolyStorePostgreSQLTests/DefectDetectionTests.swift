import PolyStoreConformance
import PostgreSQLServer
import PostgreSQLTarget
import Testing

extension DefectiveBackend: CustomTestStringConvertible {
    /// The description of the defect, as the test name.
    public var testDescription: String { description }
}

/// Checks that the conformance suite detects defects of a backend on a server: each one of the suite's own, around stores of PostgreSQL. All run in the thorough ring.
@Suite(.withServer) struct DefectDetectionTests {
    private static let base = Result { try PostgreSQLTarget.on(TestServer.get()) }
    /// A case that does not apply to a server, whose client cancels its statement. `InterruptionTests` does that.
    private static let inapplicable = "interruption.during.within-10000-rows"
    static let defects = DefectiveBackend.all.filter { defective in
        if defective.caughtBy == inapplicable { return false }
        let quick = ["writing.delete.every-one", "opening.reopen.keeps-objects", "isolation.snapshot.from-its-beginning"]
        return TestServer.isThorough || quick.contains(defective.caughtBy)
    }
    /// The time limit of a case that hangs. The same case ends on the backend without the defect, so the limit does not decide about it.
    private static let hangLimit: Duration = .seconds(5)

    @Test(arguments: defects)
    func defectFailsItsCaseAndTheSoundBackendPassesIt(_ defective: DefectiveBackend) async throws {
        let base = try Self.base.get()
        let named = try #require(ConformanceCase.all.first { $0.id == defective.caughtBy }, "unknown case \(defective.caughtBy)")
        #expect(try await named.run(base), "\(defective.caughtBy) is skipped")
        let error = await #expect(throws: ConformanceFailure.self, "\(defective.caughtBy) passes on a backend that \(defective)") {
            try await named.run(
                defective.target(wrapping: base), timeLimit: defective.hangs ? Self.hangLimit : ConformanceCase.timeLimit)
        }
        #expect(error?.caseID == defective.caughtBy)
        if defective.hangs { #expect(error?.message.hasPrefix("did not end within") == true, "\(error as Any)") }
        print("| \(defective) | \(defective.caughtBy) | \(error?.message.prefix(120).replacing("\n", with: " ") ?? "passes") |")
    }
}
