import Foundation
import PolyStoreConformance
import Testing

/// Random cases against a naive model: as many as `POLYSTORE_ORACLE_CASES` says.
@Suite struct OracleConformance {
    private static var cases: Int { ProcessInfo.processInfo.environment["POLYSTORE_ORACLE_CASES"].flatMap { Int($0) } ?? 200 }

    @Test(arguments: Targets.all)
    func answersAsTheModelDoes(_ target: ConformanceTarget) async throws {
        var done = 0
        while done < Self.cases {
            try await Oracle.run(seed: UInt64(done + 1), on: target)
            done += 1
        }
        print("oracle \(target.name): \(done) cases")
    }

    /// An oracle that finds nothing proves nothing.
    @Test(arguments: BrokenBackend.all.filter { !$0.target.capabilities.contains(.persistence) })
    func faultsAreFound(_ broken: BrokenBackend) async throws {
        for seed in 1...300 {
            do { try await Oracle.run(seed: UInt64(seed), on: broken.target) } catch let failure as ConformanceFailure {
                #expect(failure.description.contains("expected"), "\(failure)")
                print("oracle finds a store that \(broken): seed \(seed)")
                return
            }
        }
        Issue.record("300 cases pass on a store that \(broken)")
    }
}
