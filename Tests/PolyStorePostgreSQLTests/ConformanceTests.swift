import Foundation
import PolyStoreConformance
import PostgreSQLServer
import PostgreSQLTarget
import Testing

extension ConformanceCase: CustomTestStringConvertible {
    /// The case id, as the test name.
    public var testDescription: String { id }
}

/// The conformance suite on a server. All cases run in the thorough ring; `postgresql-report` runs them at any time.
@Suite(.withServer) struct PostgreSQLConformance {
    /// The areas of the commit ring.
    private static let areas = ["opening", "transaction", "uniqueness", "recovery", "writing", "capability"]
    static let cases = ConformanceCase.all.filter { c in
        ProcessInfo.processInfo.environment["POLYSTORE_RING"] == "thorough" || areas.contains { c.id.hasPrefix($0 + ".") }
    }
    private static let target = PostgreSQLServer.shared.map { PostgreSQLTarget.on($0) }

    @Test(arguments: cases)
    func conforms(_ c: ConformanceCase) async throws {
        let target = try Self.target.get()
        guard let reason = PostgreSQLTarget.knownFailures[c.id] else {
            _ = try await c.run(target)
            return
        }
        await withKnownIssue(Comment(rawValue: reason)) { try await c.run(target) }
    }

    @Test func claimsEqualCapabilities() throws {
        #expect(try Self.target.get().claimedFeatures() == PostgreSQLTarget.capabilities)
    }
}
